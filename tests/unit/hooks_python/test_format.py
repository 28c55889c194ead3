"""The hook's constants are those of spank/format/black_box.h, and so are the test reader's names."""
import os
import re
import sys
import unittest

HOOK = os.environ["INQUEST_TEST_HOOK"]
HEADER = os.path.join(os.environ["INQUEST_TEST_SOURCE"], "spank", "format", "black_box.h")


def header_numbers():
    with open(HEADER) as file:
        text = file.read()
    return {name: int(value) for name, value in re.findall(r"\bINQUEST_([A-Z_]+) =\s+(\d+)\b", text)}


class Format(unittest.TestCase):
    def test_every_constant_of_the_hook_is_in_the_header(self):
        sys.path.insert(0, HOOK)
        from inquest_hook import format as box_format

        numbers = header_numbers()
        numbers["STRINGS_BYTES"] = numbers["BOX_STRINGS_BYTES"] * 1024
        numbers["STRING_MAX_BYTES"] = numbers["BOX_STRING_MAX_BYTES"]
        ours = {name: value for name, value in vars(box_format).items() if name.isupper()}
        self.assertGreater(len(ours), 20)
        for name, value in ours.items():
            self.assertEqual(numbers[name], value, name)

    def test_the_slots_are_where_the_hook_writes_them(self):
        expected = {
            "TEXT_FILE": 0, "TEXT_FUNCTION": 1, "TEXT_KEY": 2, "TEXT_VALUE": 3, "TEXT_GROUP_NAME": 2, "TEXT_GROUP_BACKEND": 3,
            "TEXT_GROUP_RANKS": 4, "TEXT_GROUP_DESCRIPTION": 5, "TEXT_WRAPPER": 2, "TEXT_MODEL": 3, "TEXT_PHASE_CALL": 2,
            "TEXT_OPERATION": 2, "TEXT_DTYPE": 3, "TEXT_COLLECTIVE_GROUP": 4, "TEXT_SHAPE": 5, "TEXT_EXCEPTION_TYPE": 2,
            "TEXT_EXCEPTION_MESSAGE": 3, "TEXT_EXCEPTION_CALL": 4, "NUMBER_LINE": 0, "NUMBER_STATE": 1,
            "NUMBER_GROUP_RANK": 1, "NUMBER_GROUP_SIZE": 2, "NUMBER_GROUP_TIMEOUT_NS": 3, "NUMBER_PARAMETERS": 1,
            "NUMBER_TRAINABLE": 2, "NUMBER_PARAMETER_HASH": 3, "NUMBER_BUFFERS": 4, "NUMBER_STEP": 1, "NUMBER_MICRO_BATCHES": 2,
            "NUMBER_LOSS_BITS": 1, "NUMBER_HAS_LOSS": 2, "NUMBER_BACKWARD_STEP": 3, "NUMBER_PHASE": 1, "NUMBER_SEQUENCE": 1,
            "NUMBER_ELEMENTS": 2, "NUMBER_CALLS_HASH": 3, "NUMBER_PEER": 4, "NUMBER_COLLECTIVE_STEP": 5, "NUMBER_ASYNC": 6,
            "NUMBER_UNCAUGHT": 1, "NUMBER_IN_COLLECTIVE": 2, "NUMBER_EXIT_STATUS": 1}
        numbers = header_numbers()
        self.assertEqual({name: numbers[name] for name in expected}, expected)

    def test_the_reader_of_these_tests_knows_all_kinds(self):
        import box_reader

        numbers = header_numbers()
        for kind, name in enumerate(box_reader.KINDS):
            if name:
                self.assertEqual(numbers["KIND_" + name], kind)


if __name__ == "__main__":
    unittest.main()
