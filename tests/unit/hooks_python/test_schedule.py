"""When checkpoints are due, and what the measured cost does to that. A clock of our own: no test waits."""
import os
import sys
import unittest

HOOK = os.environ["INQUEST_TEST_HOOK"]
MILLISECOND = 1_000_000


class Schedules(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, HOOK)
        self.addCleanup(sys.path.remove, HOOK)
        from inquest_hook import schedule

        self.now_ns = 1
        real = schedule.time.perf_counter_ns
        schedule.time.perf_counter_ns = lambda: self.now_ns
        self.addCleanup(setattr, schedule.time, "perf_counter_ns", real)
        self.module = schedule
        self.budget = schedule.Budget()
        self.budget.payers = 1

    def train(self, share, steps, step_ns, cost_ns):
        """Steps of which checkpoints were taken, in a training whose step and checkpoint take that long."""
        self.budget.share = share
        schedule = self.module.Schedule(self.budget)
        taken = []
        for step in range(1, steps + 1):
            self.now_ns += step_ns
            if schedule.due(step):
                begun_ns = self.now_ns
                self.now_ns += cost_ns
                self.budget.pay(begun_ns)
                schedule.adapt(step, cost_ns)
                taken.append(step)
        self.schedule = schedule
        return taken

    def test_powers_of_two_whatever_it_costs(self):
        taken = self.train(1e-6, 1000, MILLISECOND, 10 * MILLISECOND)
        self.assertLessEqual({1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, set(taken))
        self.assertLessEqual(len(taken), 11)

    def test_every_step_while_it_is_cheap(self):
        self.assertEqual(self.train(0.05, 500, 100 * MILLISECOND, MILLISECOND), list(range(1, 501)))

    def test_the_share_holds(self):
        steps = 100_000
        self.train(0.001, steps, 10 * MILLISECOND, MILLISECOND)
        self.assertEqual(self.schedule.every & (self.schedule.every - 1), 0)
        self.assertEqual(self.schedule.every, 256)
        self.assertLess(self.budget.spent_ns / self.now_ns, 0.001)

    def test_ranks_with_different_costs_meet(self):
        one = self.train(0.001, 20_000, 10 * MILLISECOND, MILLISECOND)
        self.budget.spent_ns = 0
        other = self.train(0.001, 20_000, 10 * MILLISECOND, 3 * MILLISECOND)
        coarse = self.schedule.every
        self.assertEqual([step for step in range(coarse, 20_001, coarse) if step not in one or step not in other], [])

    def test_one_slow_checkpoint_is_forgotten(self):
        self.budget.share = 0.001
        schedule = self.module.Schedule(self.budget)
        schedule.adapt(1, MILLISECOND)
        self.now_ns = 10 * MILLISECOND
        self.budget.spent_ns = self.now_ns
        schedule.adapt(4, 100 * MILLISECOND)
        slow = schedule.every
        self.now_ns = 10_000_000 * MILLISECOND
        for _ in range(3):
            schedule.adapt(1_000_000, MILLISECOND)
        self.assertEqual(schedule.every, slow // 8)

    def test_a_share_that_is_no_number(self):
        for text, share in (("200", 0.0002), ("0", 0.0), ("-5", 0.0), ("much", 0.001)):
            os.environ["INQUEST_DIGEST_SHARE"] = text
            self.addCleanup(os.environ.pop, "INQUEST_DIGEST_SHARE", None)
            self.assertEqual(self.module.Budget().share, share)


if __name__ == "__main__":
    unittest.main()
