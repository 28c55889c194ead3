// Opcodes of the pickle protocols 2 to 5 (CPython, Lib/pickletools.py).
#pragma once
#include <cstdint>

namespace inquest::evidence {

enum class Opcode : uint8_t {
    kMark = '(',
    kStop = '.',
    kPop = '0',
    kPopMark = '1',
    kDup = '2',
    kBinFloat = 'G',
    kBinInt = 'J',
    kBinInt1 = 'K',
    kBinInt2 = 'M',
    kNone = 'N',
    kBinString = 'T',
    kShortBinString = 'U',
    kBinUnicode = 'X',
    kBinBytes = 'B',
    kShortBinBytes = 'C',
    kAppend = 'a',
    kAppends = 'e',
    kBinGet = 'h',
    kLongBinGet = 'j',
    kList = 'l',
    kEmptyList = ']',
    kBinPut = 'q',
    kLongBinPut = 'r',
    kSetItem = 's',
    kTuple = 't',
    kEmptyTuple = ')',
    kSetItems = 'u',
    kDict = 'd',
    kEmptyDict = '}',
    kProto = 0x80,
    kTuple1 = 0x85,
    kTuple2 = 0x86,
    kTuple3 = 0x87,
    kNewTrue = 0x88,
    kNewFalse = 0x89,
    kLong1 = 0x8A,
    kLong4 = 0x8B,
    kShortBinUnicode = 0x8C,
    kBinUnicode8 = 0x8D,
    kBinBytes8 = 0x8E,
    kMemoize = 0x94,
    kFrame = 0x95,
    // Refused, named here only to say what was refused.
    kGlobal = 'c',
    kReduce = 'R',
    kBuild = 'b',
    kInst = 'i',
    kObj = 'o',
    kPersId = 'P',
    kBinPersId = 'Q',
    kNewObj = 0x81,
    kExt1 = 0x82,
    kExt2 = 0x83,
    kExt4 = 0x84,
    kEmptySet = 0x8F,
    kAddItems = 0x90,
    kFrozenSet = 0x91,
    kNewObjEx = 0x92,
    kStackGlobal = 0x93,
    kByteArray8 = 0x96,
    kNextBuffer = 0x97,
    kReadOnlyBuffer = 0x98
};

// Name of an opcode that this reader refuses; nullptr for every other byte.
const char* refused_opcode_name(Opcode opcode);

}  // namespace inquest::evidence
