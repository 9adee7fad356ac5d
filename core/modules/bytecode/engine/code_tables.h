// Copies the tables of a Code attribute that contain positions (exception table, line numbers, local
// variables, type annotations), with their positions moved.
#pragma once

#include "core/modules/bytecode/engine/code_plan.h"

namespace hprof {

// Where handler() belongs: one mark for each handler, before the instruction where the handler begins.
//
// handler() is a call, so it can fail (stack overflow). It must not be covered by its own handler, as javac's
// handlers of `synchronized` blocks and finally clauses are: that would be an endless loop. So it goes after
// the part of the handler that covers itself, if that is a few plain instructions, else it is left out; and
// only later handlers may cover it, so that two handlers cannot loop. Handlers that release a monitor and
// rethrow get none.
struct HandlerFacts {
  uint32_t placed = 0;
  uint32_t left_out = 0;
};
Reason mark_handlers(const CodeView& code, uint8_t* marks, HandlerFacts* facts);

// Where caught() belongs: at the beginning of handlers with a type, where the exception is alone on the
// stack. Left out where the handler covers its own beginning.
struct CaughtFacts {
  uint32_t placed = 0;
  uint32_t left_out = 0;
};
Reason mark_caughts(const CodeView& code, uint8_t* marks, CaughtFacts* facts);

// kRewritten if every entry of the exception table points to instructions.
Reason check_handlers(const CodeView& code, const uint8_t* marks);

// Ranges of the catch-all handlers, in new positions; written after the old entries, so that they match last.
struct CatchAll {
  uint32_t start;
  uint32_t end;
  uint32_t handler;
};

// Writes exception_table_length and the entries. False: there would be more than 65535.
bool write_handlers(const CodePlan& plan, const CatchAll* catch_alls, uint32_t catch_all_count,
                    GrowBuffer& out);

// Writes the content of the attribute after its length, which stays the same.
Reason write_line_numbers(const CodePlan& plan, Span table, GrowBuffer& out);
// Writes LocalVariableTable or LocalVariableTypeTable.
Reason write_local_variables(const CodePlan& plan, Span table, GrowBuffer& out);
Reason write_type_annotations(const CodePlan& plan, Span table, GrowBuffer& out);

// True: the content of a RuntimeVisibleAnnotations attribute has an annotation of that type, "Ljava/...;".
bool has_annotation(const ClassView& view, Span table, const char* type);

}  // namespace hprof
