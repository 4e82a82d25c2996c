// SPDX-License-Identifier: Apache-2.0
// Reading, merging and checking operator descriptions.

#include "desc/opdesc.h"

#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

#define HEAD "optype: 'a', author: 'x', arch: 'none', "
#define IN   "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_NONE'}], "
#define OUT                                                                                        \
    "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_NONE', ndim: 1, dims: 'src->dims', "           \
    "dtype: 'src->dtype'}], "
#define DST    "arg_name: 'dst', mtype: 'LN_MEM_NONE', ndim: 1, dims: 'src->dims', dtype: 'src->dtype'"
#define PARAMS "params: []"

static ln_status read(ln_opdesc_set *set, const char *text)
{
    return ln_opdesc_read_text(set, text, strlen(text), "t", false);
}

TEST(what_is_wrong_is_told_with_its_place)
{
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        // form
        {"[]", "t:1:1: expected {\"ops\": [...]} or NAME {...}, found an array"},
        {"{}", "t:1:1: expected {\"ops\": [...]} or NAME {...}"},
        {"{ops: 1}", "t:1:7: expected {\"ops\": [...]}"},
        {"{ops: [], doc: 1}", "t:1:11: unknown key 'doc' beside \"ops\""},
        {"{ops: [1]}", "t:1:8: an operator should be an object, but is a number"},
        {"a : b {}", "t:1:1: the base 'b' of 'a' is not described before it"},
        {"a {" HEAD "\n nonsense: 1}",
         "t:2:2: unknown key 'nonsense' of an operator; known keys: "},
        {"{ops: [{author: 'x'}]}", "t:1:8: an operator needs 'optype'"},
        {"{ops: [{optype: 'a'}]}", "t:1:8: an operator needs 'arch'"},
        {"a {author: 'x'}", "t:1:3: an operator needs 'tensors_in'"},
        {"a {run: 'f()', " IN OUT PARAMS "}", "an operator that runs needs 'arch', or a name"},
        {"a {" HEAD IN OUT PARAMS "} b_cpu {run: 'f()'}",
         "an operator that runs needs 'arch', or a name"},
        {"a {x: -}", "t:1:7: '-' has no inherited entry to delete here"},
        {"a {" HEAD IN OUT "params: [-]}", "'-' has no inherited entry to delete here"},
        // the operator
        {"a {" HEAD IN PARAMS "}", "an operator needs 'tensors_out'"},
        {"a {" HEAD IN OUT "params: {}}", "'params' should be an array, but is an object"},
        {"a {optype: 'a b', " IN OUT PARAMS "}", "'optype' should be a C identifier"},
        {"a {optype: 'for', " IN OUT PARAMS "}", "t:1:12: 'optype' should be a C identifier"},
        {"a {optype: 1}", "'optype' should be a string, but is a number"},
        {"a {" HEAD IN OUT PARAMS ", autogen: 'no'}", "'autogen' should be true or false"},
        {"a {" HEAD IN OUT PARAMS ", rtol: -1}", "rtol cannot be negative"},
        {"a {" HEAD IN OUT PARAMS ", rtol: 'x'}", "'rtol' should be a number"},
        {"a {" HEAD IN OUT PARAMS ", macs: ' '}", "'macs' is empty"},
        {"a {" HEAD IN OUT PARAMS ", cost: ''}", "'cost' is empty"},
        {"a {" HEAD IN OUT PARAMS ", step_cost: 0}", "step_cost should be above 0"},
        {"a {" HEAD IN OUT PARAMS ", infer: 'f', prepare: 'g'}",
         "an operator with 'prepare' has 'compute'"},
        {"a {" HEAD IN OUT PARAMS ", infer: 'f', workspace: 'g'}",
         "an operator with 'workspace' has 'compute'"},
        {"a {" HEAD IN OUT PARAMS ", checks: [1]}", "an element of 'checks' should be a string"},
        {"a {" HEAD IN OUT PARAMS ", checks: [{c: 1}]}", "an element of 'checks' is {check:"},
        {"a {" HEAD IN OUT PARAMS ", include: 1}", "'include' should be a string or an array"},
        {"a {" HEAD IN OUT PARAMS ", include: ['a\nb']}", "'include' holds names of headers"},
        {"a {" HEAD IN OUT PARAMS ", extra_privs: [{type: 'int'}]}", "needs 'name'"},
        {"a {optype: 'a', author: 'x', arch: 'cpu', " IN OUT PARAMS "}",
         "t:1:12: optype 'a' of arch 'cpu' should end in '_cpu'"},
        {"a {" HEAD IN OUT PARAMS "} b {" HEAD IN OUT PARAMS "}",
         "optype 'a' is described a second time, the first is at t:1:3"},
        // places
        {"a {" HEAD IN "tensors_out: [{" DST ", inplace: 'x'}]," PARAMS "}",
         "inplace 'x' is no input"},
        {"a {" HEAD IN "tensors_out: [{" DST ", inplace: 1}]," PARAMS "}",
         "'inplace' should be the name of an input or an array of names, but is a number"},
        {"a {" HEAD IN "tensors_out: [{" DST ", inplace: ['src', 1]}]," PARAMS "}",
         "'inplace' should be the name of an input or an array of names"},
        {"a {" HEAD IN "tensors_out: [{" DST ", joins: 'src'}]," PARAMS "}",
         "joins 'src' is not variadic"},
        {"a {" HEAD IN "tensors_out: [{" DST ", part_of: 'y'}]," PARAMS "}",
         "part_of 'y' is no input"},
        {"a {" HEAD IN "tensors_out: [{" DST ", part_of: 'src'}]," PARAMS "}",
         "'dst' needs the operator's 'calc_offset'"},
        {"a {" HEAD IN "tensors_out: [{" DST ", inplace: 'src', owner: 'src'}]," PARAMS "}",
         "'dst' can have only one of 'inplace', 'inplace_first', 'part_of', 'joins', 'owner', "
         "'scratch'"},
        {"a {" HEAD IN "tensors_out: [{" DST ", owner: 'src_name'}]," PARAMS ", infer: 'f'}",
         "owner 'src_name' is no input"},
        {"a {" HEAD IN "tensors_out: [{" DST ", owner: 'src'}, {arg_name: 'b'}]," PARAMS
         ", infer: 'f'}",
         "'dst' has an 'owner', so it should be the only output"},
        // inputs
        {"a {" HEAD "tensors_in: [{}]," OUT PARAMS "}", "an input tensor needs 'arg_name'"},
        {"a {" HEAD "tensors_in: [{arg_name: 'src', mtype: 'CPU'}]," OUT PARAMS "}",
         "mtype 'CPU' is not one of LN_MEM_NONE, LN_MEM_CPU"},
        {"a {" HEAD
         "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_CPU', dtype: 'FLOAT'}]," OUT PARAMS "}",
         "dtype 'FLOAT' is not one of TL_DOUBLE"},
        {"a {" HEAD
         "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_CPU', sametype: 'x'}]," OUT PARAMS "}",
         "sametype 'x' is no input that stands before 'src'"},
        {"a {" HEAD
         "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_CPU', sameshape: 'src'}]," OUT PARAMS "}",
         "sameshape 'src' is no input that stands before 'src'"},
        {"a {" HEAD "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_CPU', optional: true}, "
         "{arg_name: 'b', mtype: 'LN_MEM_CPU'}]," OUT PARAMS "}",
         "'b' must be optional too, because 'src' before it is"},
        {"a {" HEAD "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_CPU', optional: true, "
         "variadic: true}]," OUT PARAMS "}",
         "'src' cannot be optional and variadic"},
        {"a {" HEAD "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_CPU', variadic: true}, "
         "{arg_name: 'b', mtype: 'LN_MEM_CPU', variadic: true}]," OUT PARAMS "}",
         "'src' and 'b' cannot both be variadic"},
        {"a {" HEAD "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_CPU', variadic: true}], "
         "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', dims: [1], dtype: 'x', "
         "variadic: true}]," PARAMS "}",
         "'src' and 'dst' cannot both be variadic"},
        {"a {" HEAD IN "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', dims: [1], "
         "dtype: 'x', variadic: true, len: 1}]," PARAMS "}",
         "'dst' is variadic and cannot have 'custom', 'cleanup', 'len' or 'scratch'"},
        // names
        {"a {" HEAD IN "tensors_out: [{arg_name: 'src', mtype: 'LN_MEM_CPU', ndim: 1, dims: 'x', "
         "dtype: 'y'}]," PARAMS "}",
         "arg_name 'src' is here a second time"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'priv', ptype: 'LN_PARAM_BOOL'}]}",
         "arg_name 'priv' is a name of the generated code"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'src_name', ptype: 'LN_PARAM_BOOL'}]}",
         "arg_name 'src_name' is what the generated code calls a part of 'src'"},
        // outputs
        {"a {" HEAD IN "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU'}]," PARAMS "}",
         "output 'dst' needs 'dims' or 'shape'"},
        {"a {" HEAD IN "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', dims: 'x'}]," PARAMS
         "}",
         "output 'dst' needs 'ndim'"},
        {"a {" HEAD IN "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', dims: [1]}]," PARAMS
         "}",
         "output 'dst' needs 'dtype'"},
        {"a {" HEAD IN "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', dims: [1], ndim: 2, "
         "dtype: 'x'}]," PARAMS "}",
         "'dims' has 1 elements, but 'ndim' is 2"},
        {"a {" HEAD IN "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', dims: [-1], "
         "dtype: 'x'}]," PARAMS "}",
         "-1 is no dimension"},
        {"a {" HEAD IN "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', dims: [true], "
         "dtype: 'x'}]," PARAMS "}",
         "a dimension should be a number or a C expression"},
        {"a {" HEAD IN "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', "
         "dims: [1,1,1,1,1,1,1,1,1], dtype: 'x'}]," PARAMS "}",
         "9 dimensions, a tensor has at most"},
        {"a {" HEAD IN "tensors_out: [{arg_name: 'dst', mtype: 'LN_MEM_CPU', shape: 'x', ndim: 1, "
         "dtype: 'x'}]," PARAMS "}",
         "'dst' has 'shape', which replaces 'ndim' and 'dims'"},
        // parameters
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'NUMBER'}]}",
         "ptype 'NUMBER' is not one of LN_PARAM_NULL"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_NUMBER'}]}",
         "param 'p' is a number and needs 'realtype'"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_NUMBER', realtype: 'long'}]}",
         "realtype 'long' is not one of int, float, double"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_BOOL', realtype: 'int'}]}",
         "only numbers and strings have 'realtype'"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_STRING', realtype: 'int'}]}",
         "param 'p' is a string with 'realtype' and needs 'from_func'"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_STRING', from_func: 'f'}]}",
         "'from_func' of 'p' needs a string with 'realtype'"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_STRING', realtype: 'a b', "
         "from_func: 'f'}]}",
         "realtype 'a b' is no name of a C type"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_STRING', gt: 1}]}",
         "'gt' bounds numbers, but param 'p' is a LN_PARAM_STRING"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_BOOL', len: 1}]}",
         "only arrays have 'len'"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_BOOL', default: 1}]}",
         "the default of 'p', a LN_PARAM_BOOL, cannot be a number"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_NUMBER', realtype: 'int', "
         "default: 0.5}]}",
         "the default 0.5 of 'p' is no int"},
        {"a {" HEAD IN OUT "infer: 'f', params: [{int64: 'p', default: 0.5}]}",
         "the default 0.5 of 'p' is no integer"},
        {"a {" HEAD IN OUT "infer: 'f', params: [{int64s: 'p', default: [1, 2.5]}]}",
         "the default 2.5 of 'p' is no integer"},
        {"a {" HEAD IN OUT "params: [{int64: 'p'}]}", "realtype"},
        {"a {" HEAD OUT "tensors_in: [{arg_name: 'x', optional: 'y'}]}",
         "'optional' says the arg_name already"},
        {"a {" HEAD OUT "tensors_in: [{variadic: 'x', optional: 1.5}]}",
         "'optional' should be true or false"},
        {"a {" HEAD IN OUT "params: [{string: 'p', arg_name: 'q'}]}",
         "'string' says the arg_name already"},
        {"a {" HEAD IN OUT "params: [{string: 'p', number: 'q'}]}",
         "'number' says the arg_name already"},
        {"a {" HEAD IN OUT "params: [{bool: 'p', ptype: 'LN_PARAM_BOOL'}]}",
         "'bool' says the ptype already"},
        {"a {" HEAD IN OUT "params: [{int: 'p', realtype: 'int'}]}",
         "'int' says the realtype already"},
        {"a {" HEAD IN OUT "params: [{floats: 1}]}", "'arg_name' should be a string"},
        {"a {" HEAD IN OUT
         "params: [{arg_name: 'p', ptype: 'LN_PARAM_ARRAY_BOOL', default: true}]}",
         "the default of 'p', a LN_PARAM_ARRAY_BOOL, cannot be a bool"},
        {"a {" HEAD IN OUT "params: [{arg_name: 'p', ptype: 'LN_PARAM_ARRAY_BOOL', default: [1]}]}",
         "the default of 'p', a LN_PARAM_ARRAY_BOOL, cannot be a number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_opdesc_set set = {0};
        ln_status status = read(&set, rows[i].text);
        ln_opdesc_set_deinit(&set);
        if (status == LN_OK || !strstr(ln_error_message(), rows[i].message) ||
            strncmp(ln_error_message(), "t:", 2) != 0)
            fail_msg("%s: \"%s\" instead of \"%s\"", rows[i].text,
                     status == LN_OK ? "accepted" : ln_error_message(), rows[i].message);
    }
}

TEST(all_keys_are_read)
{
    static const char text[] =
        "{\"include\": \"a.h\", \"ops\": [{\"optype\": \"a_cpu\", \"author\": \"x\", "
        "\"arch\": \"cpu\", \"doc\": \"d\", \"dtypes\": \"any\", \"nan\": \"stays\", \"example\": \"e\", \"macs\": \"1\", \"cost\": \"1\", \"step_cost\": 2, \"rtol\": 1e-6, "
        "\"commutes\": \"1\", "
        "\"autogen\": true, \"variable_length\": false, \"include\": [\"<math.h>\"], "
        "\"extra_privs\": [{\"type\": \"int\", \"name\": \"n\"}], \"check\": \"1\", "
        "\"checks\": [{\"check\": \"1\"}, \"2\"], \"custom\": \";\", \"static_run\": \"s()\", "
        "\"run\": \"\", \"post_run\": \"p()\", \"calc_offset\": \"0\","
        "\"tensors_in\": [{\"arg_name\": \"src\", \"mtype\": \"LN_MEM_CPU\", \"dtype\": "
        "\"TL_INT64\", \"ndim\": 2, \"len\": \"4\", \"static\": false, \"variadic\": true, "
        "\"sametype\": \"src\"}],"
        "\"tensors_out\": [{\"arg_name\": \"dst\", \"mtype\": \"LN_MEM_CPU\", \"scratch\": true, "
        "\"dims\": [\"n\", 2], \"dtype\": \"TL_INT8\", \"owner\": \"src\", \"cleanup\": \";\"}],"
        "\"params\": [{\"arg_name\": \"p\", \"ptype\": \"LN_PARAM_ARRAY_NUMBER\", "
        "\"realtype\": \"float\", \"eq\": 1, \"le\": \"2\", \"len\": 3, \"default\": [1.5]}]}]}";
    ln_opdesc_set set = {0};
    CHECK_OK(read(&set, text));
    const ln_opdesc *op = set.first;
    CHECK_NOT_NULL(op);
    CHECK_NULL(op->next);
    CHECK_STR_EQ(op->optype, "a_cpu");
    CHECK_STR_EQ(op->dtypes, "any");
    CHECK_STR_EQ(op->nan, "stays");
    CHECK(op->rtol == 1e-6);
    CHECK_EQ(op->autogen, LN_DESC_TRUE);
    CHECK_EQ(op->variable_length, LN_DESC_FALSE);
    CHECK_EQ(op->privs[0].name[0], 'n');
    CHECK_STR_EQ(ln_opdesc_check_text(op->checks->first), "1");
    CHECK_STR_EQ(ln_opdesc_check_text(op->checks->last), "2");
    CHECK_STR_EQ(op->file_include->text, "a.h");
    CHECK_STR_EQ(op->ins[0].ndim, "2");
    CHECK_EQ(op->ins[0].is_static, LN_DESC_FALSE);
    CHECK_EQ(op->ins[0].is_optional, LN_DESC_ABSENT);
    CHECK_EQ(op->outs[0].is_scratch, LN_DESC_TRUE);
    CHECK_STR_EQ(op->params[0].bounds[LN_DESC_EQ], "1");
    CHECK_STR_EQ(op->params[0].bounds[LN_DESC_LE], "2");
    CHECK_NULL(op->params[0].bounds[LN_DESC_GT]);
    CHECK_EQ(op->params[0].default_value->count, 1);
    ln_opdesc_set_deinit(&set);
}

TEST(inheritance_merges_deeply_and_arrays_by_index)
{
    static const char base[] =
        "base {" HEAD "doc: 'd', "
        "tensors_in: [{arg_name: 'src', mtype: 'LN_MEM_NONE', ndim: 4}, "
        "{arg_name: 'w', mtype: 'LN_MEM_NONE'}, {arg_name: 'b', mtype: 'LN_MEM_NONE'}], " OUT PARAMS
        "}";
    static const char derived[] = "d1 : base {optype: 'a_ref', arch: 'ref', doc: -, "
                                  "tensors_in: [{mtype: 'LN_MEM_CPU', ndim: -}, -, {doc: 'new'}, "
                                  "{arg_name: 'more', mtype: 'LN_MEM_CPU'}]} "
                                  "d2 : d1 {optype: 'b_ref', tensors_in: [{ndim: 'n'}]}";
    ln_opdesc_set set = {0};
    CHECK_OK(ln_opdesc_read_text(&set, base, strlen(base), "base.op", true));
    CHECK_NULL(set.first);
    CHECK_OK(read(&set, derived));
    const ln_opdesc *d1 = set.first, *d2 = set.last;
    CHECK_PTR_EQ(d1->next, d2);
    CHECK_NULL(d1->doc);
    CHECK_STR_EQ(d1->author, "x");
    CHECK_EQ(d1->in_count, 3);
    CHECK_STR_EQ(d1->ins[0].arg_name, "src");
    CHECK_STR_EQ(d1->ins[0].mtype, "LN_MEM_CPU");
    CHECK_NULL(d1->ins[0].ndim);
    CHECK_STR_EQ(d1->ins[1].arg_name, "b");
    CHECK_STR_EQ(d1->ins[1].mtype, "LN_MEM_NONE");
    CHECK_STR_EQ(d1->ins[1].doc, "new");
    CHECK_STR_EQ(d1->ins[2].arg_name, "more");
    CHECK_STR_EQ(d2->optype, "b_ref");
    CHECK_STR_EQ(d2->ins[0].ndim, "n");
    CHECK_STR_EQ(d2->ins[2].arg_name, "more");
    ln_opdesc_set_deinit(&set);
}

static const ln_opdesc *find(const ln_opdesc_set *set, const char *optype)
{
    const ln_opdesc *op = set->first;
    while (op && strcmp(op->optype, optype) != 0)
        op = op->next;
    CHECK_NOT_NULL(op);
    return op;
}

TEST(a_name_says_optype_arch_base_and_memory)
{
    static const char text[] =
        "a {doc: 'd', tensors_in: [{arg_name: 'src'}, {arg_name: 'w', mtype: 'LN_MEM_CUDA'}], " OUT
            PARAMS "} "
        "a_b {doc: 'e', tensors_in: [{arg_name: 'src'}], " OUT PARAMS "} "
        "a_cpu {run: 'f(src)'} "
        "a_b_cpu {run: 'g(src)'} "
        "a_ref : a_cpu {run: 'h(src)'} "
        "c : a {doc: 'f'} "
        "c_cpu : c {arch: 'cpu', run: 'k(src)'} "
        "a_x_cpu : a_cpu {optype: 'a_x_cpu', doc: 'g'} a_y_cpu : a_cpu {doc: 'h'} "
        "a_cpu_x {optype: 'x_cpu', arch: 'cpu', run: 'l()', tensors_in: [], " OUT PARAMS "}";
    static const struct {
        const char *optype, *arch, *doc, *mtype;
    } rows[] = {
        {"a", "none", "d", "LN_MEM_NONE"},     {"a_b", "none", "e", "LN_MEM_NONE"},
        {"a_cpu", "cpu", "d", "LN_MEM_CPU"},   {"a_b_cpu", "cpu", "e", "LN_MEM_CPU"},
        {"a_ref", "ref", "d", "LN_MEM_CPU"},   {"c", "none", "f", "LN_MEM_NONE"},
        {"c_cpu", "cpu", "f", "LN_MEM_CPU"},   {"a_x_cpu", "cpu", "g", "LN_MEM_CPU"},
        {"a_y_cpu", "cpu", "h", "LN_MEM_CPU"},
    };
    ln_opdesc_set set = {0};
    CHECK_OK(read(&set, text));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ln_opdesc *op = find(&set, rows[i].optype);
        CHECK_STR_EQ(op->arch, rows[i].arch);
        CHECK_STR_EQ(op->doc, rows[i].doc);
        CHECK_STR_EQ(op->ins[0].mtype, rows[i].mtype);
        CHECK_NULL(op->author);
    }
    CHECK_STR_EQ(find(&set, "c_cpu")->ins[1].mtype, "LN_MEM_CUDA");
    CHECK_NULL(find(&set, "x_cpu")->doc);
    ln_opdesc_set_deinit(&set);
}

TEST(an_arch_has_its_memory_type_from_the_set)
{
    ln_opdesc_set set = {.mtype = "LN_MEM_DPU"};
    CHECK_OK(read(&set, "a {tensors_in: [{arg_name: 'src'}], tensors_out: [{arg_name: 'dst', "
                        "dims: [1], dtype: 'src->dtype'}]," PARAMS "} a_dpu {run: 'f()'}"));
    CHECK_STR_EQ(set.first->ins[0].mtype, "LN_MEM_NONE");
    CHECK_STR_EQ(set.last->ins[0].mtype, "LN_MEM_DPU");
    CHECK_STR_EQ(set.last->outs[0].mtype, "LN_MEM_DPU");
    ln_opdesc_set_deinit(&set);
}

// Descriptions from before a name said the optype.
TEST(an_optype_is_inherited_from_a_file_of_bases)
{
    static const char base[] =
        "half_cpu {optype: 'half_cpu', author: 'x', arch: 'cpu', run: 'f()', " IN OUT PARAMS "}";
    ln_opdesc_set set = {0};
    CHECK_OK(ln_opdesc_read_text(&set, base, strlen(base), "base.op", true));
    CHECK_OK(read(&set, "better : half_cpu {run: 'g()'}"));
    CHECK_STR_EQ(set.first->optype, "half_cpu");
    ln_opdesc_set_deinit(&set);
}

TEST(an_error_in_an_inherited_part_has_the_place_in_the_base)
{
    static const char base[] = "base {\n author: 1}";
    static const char derived[] = "d : base {optype: 'a'}";
    ln_opdesc_set set = {0};
    CHECK_OK(ln_opdesc_read_text(&set, base, strlen(base), "base.op", true));
    CHECK_FAILS(read(&set, derived), LN_INVALID);
    CHECK_MESSAGE("base.op:2:10: 'author' should be a string");
    ln_opdesc_set_deinit(&set);
}

TEST(descriptions_only_need_not_be_complete)
{
    ln_opdesc_set set = {0};
    CHECK_OK(read(&set, "a {autogen: false, author: 'x'} b {autogen: 0}"));
    CHECK_EQ(ln_opdesc_is_generated(set.first), false);
    CHECK_STR_EQ(set.last->optype, "b");
    ln_opdesc_set_deinit(&set);
}

TEST(only_an_object_itself_is_said_to_be_a_base)
{
    ln_opdesc_set set = {0};
    CHECK_OK(read(&set, "a {base: true, doc: 'd', example: '(x |);', " IN OUT "} b : a {" PARAMS
                        "} b_cpu {run: 'f()'} c : b {example: 'c(y |);'}"));
    CHECK(!ln_opdesc_is_generated(set.first));
    CHECK(ln_opdesc_is_generated(find(&set, "b")));
    CHECK_STR_EQ(find(&set, "b")->doc, "d");
    CHECK_STR_EQ(find(&set, "b")->example, "b(x |);");
    CHECK_STR_EQ(find(&set, "b_cpu")->example, "b(x |);");
    CHECK_STR_EQ(set.last->example, "c(y |);");
    ln_opdesc_set_deinit(&set);
}

TEST(a_name_says_the_domain_of_onnx)
{
    ln_opdesc_set set = {0};
    CHECK_OK(read(&set, "ms_A {infer: 'f', " IN OUT "} ml_B {infer: 'f', since: [2, 3], " IN OUT
                        "} C {infer: 'f', since: [7], " IN OUT "} ms_D {run: 'f()', arch: 'cpu', "
                        "optype: 'ms_D_cpu', " IN OUT "} ms_A_ref {compute: 'g'}"));
    CHECK_STR_EQ(set.first->domain, "com.microsoft");
    CHECK_EQ(set.first->since->count, 1);
    CHECK(set.first->since->first->number == 1);
    CHECK(set.last->since->first->number == 1);
    CHECK_STR_EQ(find(&set, "ml_B")->domain, "ai.onnx.ml");
    CHECK_EQ(find(&set, "ml_B")->since->count, 2);
    CHECK_NULL(find(&set, "C")->domain);
    CHECK_NULL(find(&set, "ms_D_cpu")->domain);
    CHECK_NULL(find(&set, "ms_D_cpu")->since);
    ln_opdesc_set_deinit(&set);
}

TEST(a_flag_of_a_tensor_may_say_its_name)
{
    ln_opdesc_set set = {0};
    CHECK_OK(read(&set, "a {infer: 'f', tensors_in: [{arg_name: 'x'}, {optional: 'y'}, {variadic: "
                        "'z', optional: true}], tensors_out: [{arg_name: 'u'}, {optional: 'v'}]} "
                        "b : a {tensors_in: [{}, {optional: 'w'}]}"));
    const ln_opdesc *a = set.first, *b = set.last;
    CHECK_STR_EQ(a->ins[1].arg_name, "y");
    CHECK_EQ(a->ins[1].is_optional, LN_DESC_TRUE);
    CHECK_EQ(a->ins[1].is_variadic, LN_DESC_ABSENT);
    CHECK_STR_EQ(a->ins[2].arg_name, "z");
    CHECK_EQ(a->ins[2].is_optional, LN_DESC_TRUE);
    CHECK_EQ(a->ins[2].is_variadic, LN_DESC_TRUE);
    CHECK_STR_EQ(a->outs[1].arg_name, "v");
    CHECK_EQ(a->outs[1].is_optional, LN_DESC_TRUE);
    CHECK_STR_EQ(b->ins[1].arg_name, "w");
    CHECK_EQ(b->ins[1].is_optional, LN_DESC_TRUE);
    ln_opdesc_set_deinit(&set);
}

TEST(types_are_words_of_c_or_their_short_forms)
{
    static const struct {
        const char *types, *expected;
    } rows[] = {
        {"TL_INT64", "LN_TYPE(TL_INT64)"},
        {"float", "LN_TYPES_FLOAT"},
        {"number|TL_BOOL | small_int", "LN_TYPES_NUMBER|LN_TYPE(TL_BOOL) | LN_TYPES_SMALL_INT"},
        {"any & ~(TL_STRING | float8)", "LN_TYPES_ANY & ~(LN_TYPE(TL_STRING) | LN_TYPES_FLOAT8)"},
        {"LN_TYPES_INT | LN_TYPE(TL_BOOL)", "LN_TYPES_INT | LN_TYPE(TL_BOOL)"},
        {"7", "7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_opdesc_set set = {0};
        ln_text text = {0};
        ln_text_printf(&text,
                       "a {" OUT PARAMS ", infer: 'f', tensors_in: [{arg_name: 'x', types: '%s'}]}",
                       rows[i].types);
        CHECK_OK(read(&set, text.bytes));
        CHECK_STR_EQ(set.first->ins[0].types, rows[i].expected);
        ln_opdesc_set_deinit(&set);
        ln_text_deinit(&text);
    }
}

TEST(types_that_are_none_are_refused)
{
    static const struct {
        const char *types, *message;
    } rows[] = {
        {"FLOAT", "'FLOAT' is not an element type; did you mean 'TL_FLOAT'?"},
        {"number | BOOL", "'BOOL' is not an element type; did you mean 'TL_BOOL'?"},
        {"TL_FLOATS", "'TL_FLOATS' is not an element type; did you mean 'TL_FLOAT'?"},
        {"LN_TYPE(TL_HALF)", "'TL_HALF' is not an element type"},
        {"flaot", "did you mean 'float'?"},
        {"whatever",
         "types of 'x': 'whatever' is not an element type such as TL_FLOAT, nor a set of them, float, signed,"},
        {"LN_TYPES_FLAOT", "'LN_TYPES_FLAOT' is not an element type"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_opdesc_set set = {0};
        ln_text text = {0};
        ln_text_printf(&text,
                       "a {" OUT PARAMS ", infer: 'f', tensors_in: [{arg_name: 'x', types: '%s'}]}",
                       rows[i].types);
        CHECK_EQ(read(&set, text.bytes), LN_INVALID);
        CHECK(strstr(ln_error_message(), rows[i].message));
        ln_opdesc_set_deinit(&set);
        ln_text_deinit(&text);
    }
    ln_opdesc_set set = {0};
    CHECK_OK(read(&set, "a {" OUT PARAMS ", include: 'mine.h', infer: 'f', tensors_in: "
                        "[{arg_name: 'x', types: 'MINE | LN_TYPES_MINE | mine'}]}"));
    CHECK_STR_EQ(set.first->ins[0].types, "MINE | LN_TYPES_MINE | LN_TYPES_MINE");
    ln_opdesc_set_deinit(&set);
}

TEST(a_key_says_name_and_type_of_a_parameter)
{
    static const struct {
        const char *key, *ptype, *realtype;
    } rows[] = {
        {"number", "LN_PARAM_NUMBER", NULL},     {"numbers", "LN_PARAM_ARRAY_NUMBER", NULL},
        {"int", "LN_PARAM_NUMBER", "int"},       {"ints", "LN_PARAM_ARRAY_NUMBER", "int"},
        {"int64", "LN_PARAM_NUMBER", "int64"},   {"int64s", "LN_PARAM_ARRAY_NUMBER", "int64"},
        {"float", "LN_PARAM_NUMBER", "float"},   {"floats", "LN_PARAM_ARRAY_NUMBER", "float"},
        {"double", "LN_PARAM_NUMBER", "double"}, {"doubles", "LN_PARAM_ARRAY_NUMBER", "double"},
        {"string", "LN_PARAM_STRING", NULL},     {"strings", "LN_PARAM_ARRAY_STRING", NULL},
        {"bool", "LN_PARAM_BOOL", NULL},         {"bools", "LN_PARAM_ARRAY_BOOL", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_opdesc_set set = {0};
        ln_text text = {0};
        ln_text_printf(&text,
                       "a {" HEAD IN OUT "infer: 'f', params: [{%s: 'p', doc: 'd'}]} "
                       "b : a {params: [{string: 'q'}, {%s: 'r'}]}",
                       rows[i].key, rows[i].key);
        CHECK_OK(read(&set, text.bytes));
        const ln_opdesc_param *p = &set.first->params[0], *q = &set.last->params[0];
        CHECK_STR_EQ(p->arg_name, "p");
        CHECK_STR_EQ(p->ptype, rows[i].ptype);
        CHECK(!p->realtype == !rows[i].realtype);
        if (p->realtype)
            CHECK_STR_EQ(p->realtype, rows[i].realtype);
        CHECK_STR_EQ(q->arg_name, "q");
        CHECK_STR_EQ(q->ptype, "LN_PARAM_STRING");
        CHECK_STR_EQ(q->doc, "d");
        CHECK_STR_EQ(set.last->params[1].ptype, rows[i].ptype);
        ln_opdesc_set_deinit(&set);
        ln_text_deinit(&text);
    }
}

TEST(names_are_global_to_a_run)
{
    ln_opdesc_set set = {0};
    CHECK_OK(ln_opdesc_read_text(&set, "a {}", 4, "one", true));
    CHECK_FAILS(ln_opdesc_read_text(&set, "a {}", 4, "two", true), LN_INVALID);
    CHECK_MESSAGE("two:1:3: 'a' is described a second time, the first is at one:1:3");
    ln_opdesc_set_deinit(&set);
}

TEST(large_descriptions_are_refused)
{
    ln_opdesc_set set = {0};
    CHECK_FAILS(ln_opdesc_read_text(&set, "", LN_OPDESC_MAX_BYTES + 1, "t", false), LN_LIMIT);
    ln_text text = {0};
    ln_text_puts(&text, "a {x: [");
    for (int i = 0; i <= LN_OPDESC_MAX_MEMBERS; i++)
        ln_text_puts(&text, "1,");
    ln_text_puts(&text, "]}");
    CHECK_FAILS(read(&set, text.bytes), LN_LIMIT);
    ln_opdesc_set_deinit(&set);
    ln_text_deinit(&text);

    for (int i = 0; i <= LN_OPDESC_MAX_OPS; i++)
        ln_text_printf(&text, "a%d {}", i);
    CHECK_FAILS(ln_opdesc_read_text(&set, text.bytes, text.len, "t", true), LN_LIMIT);
    ln_opdesc_set_deinit(&set);
    ln_text_deinit(&text);
}

TEST(out_of_memory_leaves_nothing)
{
    static const char text[] =
        "a {" HEAD OUT "tensors_in: [{optional: 'src', types: 'int'}], params: [{int: 'p'}]} "
        "b : a {} a_cpu {run: 'f()'}";
    OOM_SWEEP(n)
    {
        ln_opdesc_set set = {0};
        ln_status status = read(&set, text);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_opdesc_set_deinit(&set);
    }
}

TEST_LIST(types_that_are_none_are_refused, what_is_wrong_is_told_with_its_place, all_keys_are_read,
          inheritance_merges_deeply_and_arrays_by_index, a_name_says_optype_arch_base_and_memory,
          an_arch_has_its_memory_type_from_the_set, an_optype_is_inherited_from_a_file_of_bases,
          an_error_in_an_inherited_part_has_the_place_in_the_base,
          descriptions_only_need_not_be_complete, only_an_object_itself_is_said_to_be_a_base,
          a_flag_of_a_tensor_may_say_its_name, a_name_says_the_domain_of_onnx,
          types_are_words_of_c_or_their_short_forms, a_key_says_name_and_type_of_a_parameter,
          names_are_global_to_a_run, large_descriptions_are_refused, out_of_memory_leaves_nothing)
