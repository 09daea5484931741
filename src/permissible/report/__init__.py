"""Model and data become a Summary (plain data); text, plots and the HTML page are renderings of it."""
