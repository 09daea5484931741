// Bindings of boosted trees whose rows lie in parts: a part answers questions, and a fit asks an object of Python,
// which passes them on to the parts wherever they are.
#include "bind/boosted.hpp"

using namespace permissible;
using nb::literals::operator""_a;

namespace permissible::boosted {

constexpr uint64_t kHalf = 0xffffffffu;

/// A sum of losses in two numbers that add up without overflow.
std::vector<int64_t> halves(__int128 value) {
    return {static_cast<int64_t>(value >> 32), static_cast<int64_t>(value & kHalf)};
}
__int128 whole(int64_t upper, int64_t lower) { return (static_cast<__int128>(upper) << 32) + lower; }

/// What a part answers to `move`; `blocks` holds the codes of the rows drawn.
struct PartMoved {
    float gradient_most = 0.0f, curvature_most = 0.0f;
    int64_t taken = 0;
    std::vector<int64_t> losses;  // two numbers each of the training and of the held-out rows
    nb::object blocks = nb::none(), gradient = nb::none(), curvature = nb::none(), copies = nb::none();
};

class BoundPart {
  public:
    BoundPart(std::shared_ptr<BoundRows> rows, std::shared_ptr<BoundRows> held_out, int threads)
        : rows_(std::move(rows)),
          held_(std::move(held_out)),
          part_(rows_->rows, held_ ? &held_->rows : nullptr, threads) {}

    nb::tuple sums(const Trees* tree, std::optional<In1<double>> step, std::size_t leaves, double gradient_grid,
                   double curvature_grid, bool exact) {
        const std::size_t outputs = rows_->rows.scores->outputs();
        require(leaves >= 1 && leaves <= kMostLeaves, "a tree has between 1 and 256 leaves");
        require(!step || step->shape(0) == leaves * outputs, "`step` must have one entry per leaf and output");
        Tree grown;
        if (tree) {
            require(tree->splits.size() + 1 == leaves, "`tree` has another number of leaves");
            for (const Split& split : tree->splits)
                require(static_cast<std::size_t>(split.column) < rows_->rows.codes->columns(),
                        "a split's column is not there");
            grown.splits = tree->splits;
        }
        LeafSums found(leaves, outputs, gradient_grid, curvature_grid, exact);
        {
            nb::gil_scoped_release free;
            found = part_.sums(found, leaves, step ? step->data() : nullptr, tree ? &grown : nullptr);
        }
        return nb::make_tuple(nb::cast(array_of(found.gradient, {found.gradient.size()})),
                              nb::cast(array_of(found.curvature, {found.curvature.size()})));
    }

    PartMoved move(In1<double> step, std::size_t leaves, In1<float> signs, bool sampled, uint32_t key, float mu,
                   bool track_loss, bool send) {
        const FitRows& rows = rows_->rows;
        const std::size_t outputs = rows.scores->outputs();
        require(step.shape(0) == leaves * outputs && signs.shape(0) == outputs, "`step` or `signs` has another size");
        require(!sampled || rows.hash, "sampled rows need hashes");
        Moved moved;
        {
            nb::gil_scoped_release free;
            moved =
                part_.move({step.data(), leaves, {signs.data(), signs.data() + outputs}, sampled, key, mu, track_loss});
        }
        PartMoved found{moved.extremes.gradient, moved.extremes.curvature, moved.taken, halves(moved.loss)};
        for (const int64_t half : halves(moved.held_out)) found.losses.push_back(half);
        if (send) take(sampled, found);
        return found;
    }

    int64_t sizes(float largest) { return part_.sizes(largest); }

  private:
    /// The rows of the next search, copied.
    void take(bool sampled, PartMoved& found) {
        const FitRows& rows = rows_->rows;
        const Taken* drawn = sampled ? &part_.taken() : nullptr;
        const std::size_t n = drawn ? drawn->count : rows.labels.rows, blocks = rows.codes->n_blocks();
        auto codes = std::make_unique<uint8_t[]>(std::max<std::size_t>(8 * n * blocks, 1));
        std::vector<float> gradient(n), curvature(n);
        std::vector<int32_t> copies(rows.labels.copies ? n : 0);
        auto* words = reinterpret_cast<uint64_t*>(codes.get());
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t i = drawn ? drawn->rows[k] : k;
            for (std::size_t b = 0; b < blocks; ++b) words[b * n + k] = rows.codes->block(b)[i];
            gradient[k] = drawn ? drawn->gradient[k] : rows.scores->gradient()[i];
            curvature[k] = drawn ? drawn->curvature[k] : rows.scores->curvature()[i];
            if (rows.labels.copies) copies[k] = rows.labels.copies[i];
        }
        found.blocks = nb::cast(to_numpy<uint8_t>(std::move(codes), {blocks, n, std::size_t{8}}));
        found.gradient = nb::cast(array_of(gradient, {n}));
        found.curvature = nb::cast(array_of(curvature, {n}));
        found.copies = nb::cast(array_of(copies, {copies.size()}));
    }

    std::shared_ptr<BoundRows> rows_, held_;
    Part part_;
};

/// Rows that an object of Python asks about; the rows of a search are gathered here.
class AskedRows final : public TrainingRows {
  public:
    AskedRows(nb::object asker, std::size_t columns, std::size_t outputs, int threads)
        : asker_(std::move(asker)), columns_(columns), outputs_(outputs), threads_(threads) {}

    LeafSums sums(const LeafSums& empty, std::size_t leaves, const double* step, const Tree* tree) override {
        nb::gil_scoped_acquire hold;
        nb::object grown = nb::none(), at = nb::none();
        if (tree) {
            Trees one;
            one.splits = tree->splits;
            one.first_split.push_back(static_cast<int32_t>(tree->splits.size()));
            grown = nb::cast(std::move(one));
        }
        if (step) at = array(step, leaves * outputs_);
        const nb::object found =
            asker_.attr("sums")(grown, at, leaves, empty.gradient_grid, empty.curvature_grid, empty.exact);
        LeafSums sums = empty;
        sums.gradient = numbers(found[0]), sums.curvature = numbers(found[1]);
        require(sums.gradient.size() == leaves * outputs_ && sums.curvature.size() == leaves * outputs_,
                "an answer has another size");
        return sums;
    }

    Moved move(const MoveRequest& request) override {
        nb::gil_scoped_acquire hold;
        const std::size_t n = request.signs.size();
        std::vector<float> signs = request.signs;
        found_ = nb::cast<PartMoved>(asker_.attr("move")(array(request.step, request.leaves * outputs_), request.leaves,
                                                         nb::cast(array_of(signs, {n})), request.sampled, request.key,
                                                         request.mu, request.track_loss));
        Moved moved;
        moved.extremes = {found_.gradient_most, found_.curvature_most};
        moved.taken = found_.taken;
        moved.loss = whole(found_.losses.at(0), found_.losses.at(1));
        moved.held_out = whole(found_.losses.at(2), found_.losses.at(3));
        return moved;
    }

    int64_t sizes(float largest) override {
        nb::gil_scoped_acquire hold;
        return nb::cast<int64_t>(asker_.attr("sizes")(largest));
    }

    SearchRows searched() override {
        nb::gil_scoped_acquire hold;
        blocks_ = nb::cast<In3<uint8_t>>(found_.blocks);
        const auto gradient = nb::cast<In1<float>>(found_.gradient), curvature = nb::cast<In1<float>>(found_.curvature);
        const auto copies = nb::cast<In1<int32_t>>(found_.copies);
        const std::size_t n = gradient.shape(0);
        require(blocks_->shape(1) == n && curvature.shape(0) == n && blocks_->shape(0) == (columns_ + 7) / 8 &&
                    (copies.shape(0) == 0 || copies.shape(0) == n),
                "the rows of a search disagree");
        codes_ = Codes(blocks_->data(), n, columns_, threads_);
        packed_.pack(gradient.data(), curvature.data(), nullptr, copies.shape(0) ? copies.data() : nullptr, n);
        SearchRows rows;
        rows.codes = &codes_;
        rows.packed = packed_.data();
        rows.gradient_grid = packed_.gradient_grid(), rows.curvature_grid = packed_.curvature_grid();
        rows.weight = packed_.weight();
        return rows;
    }

  private:
    static nb::object array(const double* values, std::size_t n) {
        std::vector<double> copy(values, values + n);
        return nb::cast(array_of(copy, {n}));
    }
    static std::vector<int64_t> numbers(const nb::object& given) {
        const auto values = nb::cast<In1<int64_t>>(given);
        return {values.data(), values.data() + values.shape(0)};
    }

    nb::object asker_;
    std::size_t columns_, outputs_;
    int threads_;
    PartMoved found_;
    std::optional<In3<uint8_t>> blocks_;
    Codes codes_;
    PackedRows packed_;
};

/// `like` are no rows: they say what the loss and the classes are.
Fitted fit_asked(nb::object asker, const BoundRows& like, double total, const std::vector<double>& class_weight,
                 bool held_out, bool hashed, const In2<int32_t>& layout, const FitOptions& options,
                 nb::object callback) {
    const std::vector<Column> columns = columns_of(layout);
    demand_options(options, columns.size());
    const Scores& scores = *like.rows.scores;
    require(class_weight.size() == std::max<std::size_t>(scores.outputs(), 2), "`class_weight` has another size");
    AskedRows rows(std::move(asker), columns.size(), scores.outputs(), options.threads);
    const RowFacts facts{total, class_weight, held_out, hashed};
    return watched(callback, [&](const std::function<bool(int)>& watch) {
        return fit(rows, facts, scores, columns, options, watch);
    });
}

}  // namespace permissible::boosted

void bind_boosted_parts(nb::module_& area) {
    using namespace permissible::boosted;
    nb::class_<PartMoved>(area, "Moved")
        .def(
            "__init__",
            [](PartMoved* self, float gradient_most, float curvature_most, int64_t taken, std::vector<int64_t> losses,
               nb::object blocks, nb::object gradient, nb::object curvature, nb::object copies) {
                new (self) PartMoved{gradient_most, curvature_most, taken,     std::move(losses),
                                     blocks,        gradient,       curvature, copies};
            },
            "gradient_most"_a, "curvature_most"_a, "taken"_a, "losses"_a, "blocks"_a.none(), "gradient"_a.none(),
            "curvature"_a.none(), "copies"_a.none())
        .def_ro("gradient_most", &PartMoved::gradient_most)
        .def_ro("curvature_most", &PartMoved::curvature_most)
        .def_ro("taken", &PartMoved::taken)
        .def_ro("losses", &PartMoved::losses)
        .def_prop_ro("blocks", [](const PartMoved& m) { return m.blocks; })
        .def_prop_ro("gradient", [](const PartMoved& m) { return m.gradient; })
        .def_prop_ro("curvature", [](const PartMoved& m) { return m.curvature; })
        .def_prop_ro("copies", [](const PartMoved& m) { return m.copies; });
    nb::class_<BoundPart>(area, "Part")
        .def(nb::init<std::shared_ptr<BoundRows>, std::shared_ptr<BoundRows>, int>(), "rows"_a, "held_out"_a.none(),
             "threads"_a = 1)
        .def("sums", &BoundPart::sums, "tree"_a.none(), "step"_a.noconvert().none(), "leaves"_a, "gradient_grid"_a,
             "curvature_grid"_a, "exact"_a)
        .def("move", &BoundPart::move, "step"_a.noconvert(), "leaves"_a, "signs"_a.noconvert(), "sampled"_a, "key"_a,
             "mu"_a, "track_loss"_a, "send"_a)
        .def("sizes", &BoundPart::sizes, "largest"_a);
    area.def("fit_asked", &fit_asked, "asker"_a, "like"_a, "total"_a, "class_weight"_a, "held_out"_a, "hashed"_a,
             "layout"_a.noconvert(), "options"_a, "callback"_a = nb::none());
}
