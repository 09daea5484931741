// How a search sees the rows: columns of few values share a code, and each literal has a table of the rows that it
// covers.
#include "rules/rows.hpp"

namespace permissible::rules {

void Rows::join(const std::vector<int>& bins) {
    joint_ = std::make_unique<JointCodes>(codes_, bins);
    if (!joint_->help()) joint_.reset();
    masked_ = false;
}

RuleMask Rows::joined(const RuleMask& rule) const {
    RuleMask found;
    uint8_t members[256];
    for (const LiteralMask& literal : rule) {
        joint_->members(literal.column, literal.member.data(), members);
        found.push_back(LiteralMask::from_members(joint_->lane(literal.column), members));
    }
    return found;
}

RowTable& Rows::deeper(std::size_t n_literals) {
    while (tables_.size() <= n_literals) tables_.push_back(std::make_unique<RowTable>());
    return *tables_[n_literals];
}

}  // namespace permissible::rules
