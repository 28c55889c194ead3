// One timeline on which a rule of the knowledge base holds and a near one on which it does not.
#pragma once
#include <map>
#include <string>

#include "analyzer/model/timeline.h"

namespace inquest::test {

struct RuleCase {
    model::Timeline holds;
    model::Timeline does_not;
};

using RuleCases = std::map<std::string, RuleCase>;  // by "cause/rule"

RuleCases cases_of_waiting();  // collective-on-some-ranks, slow-checkpoint
RuleCases cases_of_deaths();   // rank-died and healthy
RuleCases cases_of_unknown();  // all but unknown/replicas-differ
RuleCases cases_of_divergence();

}  // namespace inquest::test
