#include "analyzer/evidence/pickle_opcodes.h"

namespace inquest::evidence {

const char* refused_opcode_name(Opcode opcode) {
    switch (opcode) {
        case Opcode::kGlobal:
            return "GLOBAL";
        case Opcode::kReduce:
            return "REDUCE";
        case Opcode::kBuild:
            return "BUILD";
        case Opcode::kInst:
            return "INST";
        case Opcode::kObj:
            return "OBJ";
        case Opcode::kPersId:
            return "PERSID";
        case Opcode::kBinPersId:
            return "BINPERSID";
        case Opcode::kNewObj:
            return "NEWOBJ";
        case Opcode::kExt1:
            return "EXT1";
        case Opcode::kExt2:
            return "EXT2";
        case Opcode::kExt4:
            return "EXT4";
        case Opcode::kEmptySet:
            return "EMPTY_SET";
        case Opcode::kAddItems:
            return "ADDITEMS";
        case Opcode::kFrozenSet:
            return "FROZENSET";
        case Opcode::kNewObjEx:
            return "NEWOBJ_EX";
        case Opcode::kStackGlobal:
            return "STACK_GLOBAL";
        case Opcode::kByteArray8:
            return "BYTEARRAY8";
        case Opcode::kNextBuffer:
            return "NEXT_BUFFER";
        case Opcode::kReadOnlyBuffer:
            return "READONLY_BUFFER";
        default:
            return nullptr;
    }
}

}  // namespace inquest::evidence
