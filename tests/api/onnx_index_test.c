// SPDX-License-Identifier: Apache-2.0
// ONNX's operators with tensors of indices, and those that choose elements by their values.

#include "tests/api/onnx_rows.h"

#define X23     FLOATS("x", "2, 3", "1, 2, 3, 4, 5, 6")
#define X4      FLOATS("x", "4", "1, 2, 3, 4")
#define STRINGS "strings(| dst=x | dims=[3], data=[\"b\", \"a\", \"b\"]);\n"
#define NMS     "NonMaxSuppression(boxes=b, scores=s, max_output_boxes_per_class=m, iou_threshold=t"
#define BOXES                                                                                      \
    FLOATS("b", "1, 3, 4", "0, 0, 1, 1, 1, 1, 0, 0.1, 0, 2, 1, 3")                                 \
    FLOATS("s", "1, 1, 3", "0.5, 0.9, 0.7")

TEST(indices_name_what_is_read)
{
    static const onnx_row rows[] = {
        {"rows", X23 INTS("i", "2", "-1, 0") "Gather(data=x, indices=i | output=y |);",
         "FLOAT 2x3: 4 5 6 1 2 3"},
        {"columns by a scalar",
         X23 INTS("i", "", "1") "Gather(data=x, indices=i | output=y | axis=-1);", "FLOAT 2: 2 5"},
        {"no rows", X23 T("i", "INT32", "0", "0") "Gather(data=x, indices=i | output=y |);",
         "FLOAT 0x3:"},
        {"strings", STRINGS INTS("i", "2", "2, 1") "Gather(data=x, indices=i | output=y |);",
         "STRING 2: 'b' 'a'"},
        {"a row beyond", X23 INTS("i", "1", "2") "Gather(data=x, indices=i | output=y |);",
         "index 2 at 0 is outside 2 rows"},
        {"a row far before",
         X23 INTS("i", "1", "-9000000000000000000") "Gather(data=x, indices=i | output=y |);",
         "outside 2 rows"},
        {"a row of nothing",
         FLOATS("x", "0, 3", "0") INTS("i", "1", "0") "Gather(data=x, indices=i | output=y |);",
         "outside 0 rows"},
        {"elements",
         X23 INTS("i", "1, 2", "1, 0") "GatherElements(data=x, indices=i | output=y |);",
         "FLOAT 1x2: 4 2"},
        {"elements beyond",
         X23 INTS("i", "3, 2",
                  "0, 0, 0, 0, 0, 0") "GatherElements(data=x, indices=i | output=y | axis=1);",
         "dimension 3 on axis 0"},
        {"tuples",
         X23 INTS("i", "2, 2", "0, 0, -1, -1") "GatherND(data=x, indices=i | output=y |);",
         "FLOAT 2: 1 6"},
        {"tuples of a batch",
         X23 INTS("i", "2, 1", "2, 0") "GatherND(data=x, indices=i | output=y | batch_dims=1);",
         "FLOAT 2: 3 4"},
        {"tuples beyond", X23 INTS("i", "1, 2", "0, 3") "GatherND(data=x, indices=i | output=y |);",
         "index 3"},
        {"tuples too long",
         X23 INTS("i", "1, 3", "0, 0, 0") "GatherND(data=x, indices=i | output=y |);",
         "3 indices for 2 dimensions"},
    };
    CHECK_ROWS(rows);
}

TEST(indices_name_what_is_written)
{
    static const onnx_row rows[] = {
        {"replaced",
         X23 INTS("i", "1, 2", "1, 0") FLOATS(
             "u", "1, 2", "9, 8") "ScatterElements(data=x, indices=i, updates=u | output=y |);",
         "FLOAT 2x3: 1 8 3 9 5 6"},
        {"added",
         X4 INTS("i", "3", "1, 1, -1") FLOATS(
             "u", "3",
             "10, 20, 30") "ScatterElements(data=x, indices=i, updates=u | output=y | reduction=\"add\");",
         "FLOAT 4: 1 32 3 34"},
        {"unsigned maximum",
         T("x", "UINT64", "1", "18000000000000000000") INTS("i", "1", "0")
             T("u", "UINT64", "1",
               "1") "ScatterElements(data=x, indices=i, updates=u | output=y | reduction=\"max\");",
         "UINT64 1: 1.8e+19"},
        {"a sum that wraps",
         T("x", "INT8", "1", "100") INTS("i", "1", "0") T(
             "u", "INT8", "1",
             "100") "ScatterElements(data=x, indices=i, updates=u | output=y | reduction=\"add\");",
         "INT8 1: -56"},
        {"an unknown reduction",
         X4 INTS("i", "1", "0") FLOATS(
             "u", "1",
             "1") "ScatterElements(data=x, indices=i, updates=u | output=y | reduction=\"avg\");",
         "reduction \"avg\""},
        {"written beyond",
         X4 INTS("i", "1", "4")
             FLOATS("u", "1", "1") "ScatterElements(data=x, indices=i, updates=u | output=y |);",
         "outside 4 rows"},
        {"the old name",
         X4 INTS("i", "1", "0")
             FLOATS("u", "1", "7") "Scatter(data=x, indices=i, updates=u | output=y |);",
         "FLOAT 4: 7 2 3 4"},
        {"rows",
         X23 INTS("i", "1, 1", "-1")
             FLOATS("u", "1, 3", "7, 8, 9") "ScatterND(data=x, indices=i, updates=u | output=y |);",
         "FLOAT 2x3: 1 2 3 7 8 9"},
        {"multiplied",
         X4 INTS("i", "2, 1", "0, 0") FLOATS(
             "u", "2",
             "5, 3") "ScatterND(data=x, indices=i, updates=u | output=y | reduction=\"mul\");",
         "FLOAT 4: 15 2 3 4"},
        {"updates that do not fit",
         X23 INTS("i", "1, 1", "0")
             FLOATS("u", "1, 2", "7, 8") "ScatterND(data=x, indices=i, updates=u | output=y |);",
         "dimension 2 on axis 1, not 3"},
        {"a circular cache",
         FLOATS("x", "1, 3, 1", "1, 2, 3") FLOATS("u", "1, 2, 1", "8, 9") INTS(
             "i", "1",
             "2") "TensorScatter(past_cache=x, update=u, write_indices=i | present_cache=y | mode=\"circular\");",
         "FLOAT 1x3x1: 9 2 8"},
        {"a cache that is full",
         FLOATS("x", "1, 3, 1", "1, 2, 3") FLOATS("u", "1, 2, 1", "8, 9") INTS(
             "i", "1",
             "2") "TensorScatter(past_cache=x, update=u, write_indices=i | present_cache=y |);",
         "beyond a cache of 3"},
        {"a cache written before its start",
         FLOATS("x", "1, 3, 1", "1, 2, 3") FLOATS("u", "1, 1, 1", "8") INTS(
             "i", "1",
             "-1") "TensorScatter(past_cache=x, update=u, write_indices=i | present_cache=y |);",
         "at -1"},
    };
    CHECK_ROWS(rows);
}

TEST(elements_are_chosen_by_their_values)
{
    static const onnx_row rows[] = {
        {"positions", FLOATS("x", "2, 2", "0, -1, 2, 0") "NonZero(X=x | Y=y |);",
         "INT64 2x2: 0 1 1 0"},
        {"positions of a scalar", FLOATS("x", "", "3") "NonZero(X=x | Y=y |);", "INT64 0x1:"},
        {"rows",
         X23 T("c", "BOOL", "2", "0, 1") "Compress(input=x, condition=c | output=y | axis=0);",
         "FLOAT 1x3: 4 5 6"},
        {"too few conditions",
         X23 T("c", "BOOL", "2", "0, 1") "Compress(input=x, condition=c | output=y |);",
         "FLOAT 1: 2"},
        {"conditions of nothing",
         X23 T("c", "BOOL", "3", "0, 1, 1") "Compress(input=x, condition=c | output=y | axis=0);",
         "beyond the last element 1"},
        {"each once", FLOATS("x", "5", "3, 1, 3, 2, 1") "Unique(X=x | Y=y |);", "FLOAT 3: 1 2 3"},
        {"as they come", FLOATS("x", "5", "3, 1, 3, 2, 1") "Unique(X=x | Y=y | sorted=0);",
         "FLOAT 3: 3 1 2"},
        {"where first",
         FLOATS("x", "5", "3, 1, 3, 2, 1") "Unique(X=x | Y=a, indices=y | sorted=0);",
         "INT64 3: 0 1 3"},
        {"which one", FLOATS("x", "5", "3, 1, 3, 2, 1") "Unique(X=x | Y=a, inverse_indices=y |);",
         "INT64 5: 2 0 2 1 0"},
        {"how often", FLOATS("x", "5", "3, 1, 3, 2, 1") "Unique(X=x | Y=a, counts=y | sorted=0);",
         "INT64 3: 2 2 1"},
        {"columns", FLOATS("x", "2, 3", "1, 0, 1, 2, 0, 2") "Unique(X=x | Y=y | axis=1);",
         "FLOAT 2x2: 0 1 0 2"},
        {"strings", STRINGS "Unique(X=x | Y=y |);", "STRING 2: 'a' 'b'"},
        {"nothing", FLOATS("x", "0", "0") "Unique(X=x | Y=y |);", "FLOAT 0:"},
        {"the largest",
         FLOATS("x", "4", "2, 9, 2, 5")
             INTS("k", "1", "3") "TopK(X=x, K=k | Values=y, Indices=i |);",
         "FLOAT 3: 9 5 2"},
        {"the first of equal ones",
         FLOATS("x", "4", "2, 9, 2, 5")
             INTS("k", "1", "2") "TopK(X=x, K=k | Values=v, Indices=y | largest=0);",
         "INT64 2: 0 2"},
        {"on the first axis",
         X23 INTS("k", "1", "1") "TopK(X=x, K=k | Values=y, Indices=i | axis=0);",
         "FLOAT 1x3: 4 5 6"},
        {"more than there are", X4 INTS("k", "1", "5") "TopK(X=x, K=k | Values=y, Indices=i |);",
         "K is 5 on an axis of 4"},
        {"the attribute of opset 1", X4 "TopK(X=x | Values=y, Indices=i | k=1, since=1);",
         "FLOAT 1: 4"},
        {"boxes", BOXES INTS("m", "", "9") FLOATS("t", "", "0.5") NMS " | selected_indices=y |);",
         "INT64 2x3: 0 0 1 0 0 2"},
        {"overlapping boxes",
         BOXES INTS("m", "", "9") FLOATS("t", "", "0.05") NMS
         " | selected_indices=y | center_point_box=1);",
         "INT64 3x3: 0 0 1 0 0 2 0 0 0"},
        {"no box is wanted",
         BOXES INTS("m", "", "0") FLOATS("t", "", "0") NMS " | selected_indices=y |);",
         "INT64 0x3:"},
        {"boxes above a score",
         BOXES INTS("m", "", "9") FLOATS("t", "", "0") FLOATS("l", "", "0.7") NMS
         ", score_threshold=l | selected_indices=y |);",
         "INT64 1x3: 0 0 1"},
    };
    CHECK_ROWS(rows);
}

TEST(what_depends_on_data_gets_its_size_in_each_run)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n"
                                "NonZero(X=x | Y=p |);\nTranspose(data=p | transposed=y |);\n",
                                "ref");
    for (int count = 4; count >= 0; count--) {
        float x[4] = {0};
        ln_object *y = NULL;
        for (int i = 0; i < count; i++)
            x[i] = 1;
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_get_object(ctx, "y", &y));
        CHECK_EQ(ln_object_tensor(y)->dims[0], count);
        for (int i = 0; i < count; i++)
            CHECK_EQ(((const int64_t *)ln_object_tensor(y)->data)[i], i);
        ln_object_release(y);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(indices_name_what_is_read, indices_name_what_is_written,
          elements_are_chosen_by_their_values, what_depends_on_data_gets_its_size_in_each_run)
