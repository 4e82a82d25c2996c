// SPDX-License-Identifier: Apache-2.0
// What the shapes of its inputs make of a model: dimensions and known elements, as numbers.
//
// Passes see no more of a shape than these numbers. So a list of operators that was rewritten for
// one shape is right for another one, if no two numbers that were equal differ there, and none that
// was of no special value is 0 or 1. What passes calculate from sizes by remainders, such as the
// padding of SAME, is no such number: of those the remainders are listed.

#ifndef LN_COMPILE_FACTS_H
#define LN_COMPILE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/context.h>

#define LN_WITNESS_COUNT 2

// A number that the two witnesses have differently, and whatever is equal to it in both.
typedef struct ln_quantity {
    double at[LN_WITNESS_COUNT];
    double value; // for the shape that `ln_facts_derive` was asked for last
    bool is_derived;
} ln_quantity;

// factor * value of `quantities[0]` * value of `quantities[1]`.
typedef struct ln_expression {
    double factor;
    int quantities[2]; // -1: there is none
} ln_expression;

// The numbers of a model for one shape, tensor by tensor.
typedef struct ln_numbers {
    double *values;
    size_t count, capacity;
    size_t *ends; // of each tensor
    size_t tensor_count, tensor_capacity;
    double *remainders; // the same for all shapes that one list of operators is right for
    size_t remainder_count, remainder_capacity;
} ln_numbers;

typedef struct ln_facts {
    ln_numbers of_witness[LN_WITNESS_COUNT];
    ln_numbers now;
    int *quantity_of; // of each number of the first witness: a quantity, or what facts.c says
    ln_quantity *quantities;
    size_t quantity_count;
} ln_facts;

void ln_facts_deinit(ln_facts *facts);

// Lists the numbers of `model`, READY with shapes that are bound, as those of a witness.
ln_status ln_facts_list(ln_facts *facts, const ln_context *model, int witness);

// Once both witnesses are listed: finds the quantities. false: the shape has more influence than
// quantities say.
ln_status ln_facts_compare(ln_facts *facts, bool *out_is_fit);

// What both numbers, of the first and the second witness, are; false: nothing that is known.
bool ln_facts_find(const ln_facts *facts, const double numbers[LN_WITNESS_COUNT],
                   ln_expression *out_expression);

// What it is for the shape that `ln_facts_derive` was asked for last.
double ln_facts_value(const ln_facts *facts, const ln_expression *expression);

// The values of all quantities for the shapes that `model`, the same one, has now. false: it is not
// what the witnesses say.
ln_status ln_facts_derive(ln_facts *facts, const ln_context *model, bool *out_is_fit);

#endif
