#include "spank/replicas/comparison.h"

#include <algorithm>
#include <iterator>

#include "spank/replicas/rank_set.h"

namespace inquest::replicas {
namespace {

constexpr size_t kMaxWorlds = 64;
constexpr size_t kMaxGroupRanks = size_t{1} << 18U;
constexpr size_t kMaxDifferences = 64;
/* Two jobs that cannot be told apart start each other anew again and again. */
constexpr int kMaxStarts = 16;

}  // namespace

void Comparison::add(const ReplicaRecord& record) {
    World* world = world_of(record.source);
    if (world == nullptr || !belongs(*world, record.source)) return;
    if (const auto* digest = std::get_if<StateDigest>(&record.what))
        add_state(*world, record.source.rank, *digest);
    else if (const auto* pass = std::get_if<SamplerPass>(&record.what))
        world->samples.add(record.source, *pass);
    else
        add_samples(*world, record.source, std::get<SampleHashes>(record.what));
}

Comparison::World* Comparison::world_of(const Source& source) {
    if (worlds_.size() >= kMaxWorlds && worlds_.count(source.world) == 0) return nullptr;
    return &worlds_[source.world];
}

/* A second process of the same rank: the job was started again. */
bool Comparison::belongs(World& world, const Source& source) {
    if (source.born_wall_ns <= world.ended_wall_ns || world.starts > kMaxStarts) return false;
    auto& born = world.born_wall_ns;
    if (born.size() >= kMaxRanks && born.count(source.rank) == 0) return false;
    const uint64_t known_wall_ns = born.emplace(source.rank, source.born_wall_ns).first->second;
    if (known_wall_ns < source.born_wall_ns) start_again(world, source);
    return known_wall_ns <= source.born_wall_ns;
}

/* What other ranks' earlier processes have said may still be on its way from other nodes: all that are older
 * than this one belong to the earlier start. */
void Comparison::start_again(World& world, const Source& source) {
    settle(world);
    World again;
    again.starts = world.starts + 1;
    for (const auto& [rank, born_wall_ns] : world.born_wall_ns)
        if (born_wall_ns < source.born_wall_ns)
            again.ended_wall_ns = std::max(again.ended_wall_ns, born_wall_ns);
    again.born_wall_ns[source.rank] = source.born_wall_ns;
    for (const auto& [key, group] : world.groups)
        group_ranks_ -= group.ranks().size();
    world = std::move(again);
}

void Comparison::add_state(World& world, uint32_t rank, const StateDigest& digest) {
    ReplicaGroup* group = group_of(world, digest);
    if (group == nullptr) return;
    if (group->add(rank, digest)) world.must_settle = true;
    judge(world, {digest.optimizer, digest.ranks}, *group, false);
}

ReplicaGroup* Comparison::group_of(World& world, const StateDigest& digest) {
    const auto known = world.groups.find({digest.optimizer, digest.ranks});
    if (known != world.groups.end()) return &known->second;
    std::vector<uint32_t> ranks = parse_ranks(digest.ranks);
    if (ranks.size() < 2 || group_ranks_ + ranks.size() > kMaxGroupRanks) return nullptr;
    group_ranks_ += ranks.size();
    const GroupKey key{digest.optimizer, digest.ranks};
    return &world.groups.emplace(key, ReplicaGroup(std::move(ranks))).first->second;
}

/* Of too many the lowest ordinals are kept: they name the same models where any do. */
void Comparison::judge(World& world, const GroupKey& key, ReplicaGroup& group, bool all) {
    while (const auto found = group.judge(all)) {
        const Difference difference{Difference::Kind::state, key.first, key.second, found->second,
                                    found->first};
        world.held.emplace(key.first, difference);
        world.must_settle = true;
        if (world.held.size() > kMaxDifferences) world.held.erase(std::prev(world.held.end()));
    }
}

/* Whether an ordinal names one model shows when the ranks have come to it, and each has before it is
 * compared. So what is held is mostly told at once; the rest waits for names that ranks have in common. */
void Comparison::settle(World& world) {
    if (!std::exchange(world.must_settle, false) || world.held.empty()) return;
    const auto shifted = world.held.lower_bound(first_shifted(world.groups));
    for (auto told = world.held.begin(); told != shifted; told = world.held.erase(told))
        if (differences_.size() < kMaxDifferences) differences_.push_back(std::move(told->second));
}

void Comparison::add_samples(World& world, const Source& source, const SampleHashes& piece) {
    if (!world.samples.add(source, piece) || differences_.size() >= kMaxDifferences) return;
    if (std::exchange(world.overlapping_loaders[piece.loader], true)) return;
    differences_.push_back({Difference::Kind::samples, piece.loader, {}, 0, {}});
}

void Comparison::finish() {
    for (auto& [id, world] : worlds_)
        for (auto& [key, group] : world.groups)
            judge(world, key, group, true);
}

std::optional<Difference> Comparison::take_difference() {
    for (auto& [id, world] : worlds_)
        settle(world);
    if (differences_.empty()) return std::nullopt;
    Difference difference = std::move(differences_.front());
    differences_.pop_front();
    return difference;
}

}  // namespace inquest::replicas
