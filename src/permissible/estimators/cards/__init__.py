"""Point cards of ULSClassifier: fitting, printing, reasons and recourse."""
