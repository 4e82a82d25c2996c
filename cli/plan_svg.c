// SPDX-License-Identifier: Apache-2.0
// `lightnet plan --svg`: memory over time, one rectangle a tensor.
//
//     static   workspace
//     +----+   +---------------------------+ - - peak
//     |    |   |   +-----+                 |
//     |    |   +---+  t  +----+    +-------+
//     |    |   | input   |    |    | output|
//     +----+   +---------+----+----+-------+
//               step 0  1  2 ...
//
// The static region has a scale of its own: it is often much larger, and it does not change. A
// tensor that is in another one is drawn inside it, a little narrower. The line is what is alive,
// so the white below the peak is what the plan could at best have saved.
//
// Where devices compute a part, there is a lane for the host and for each device above that, over
// the same steps: what it computes, until when others may wait for it, and arrows for copies.

#include "plan_draw.h"

#include <stdlib.h>
#include <string.h>

enum {
    MARGIN = 24,
    HEAD = 66,         // title lines
    AXIS = 78,         // byte labels, left of a plot
    STATIC_WIDTH = 96, // the static region
    PLOT_HEIGHT = 420,
    FOOT = 160, // operator names below a plot
    LEGEND_ROW = 18,
    NOTE_ROW = 15,  // what devices refused
    MAX_TYPES = 24, // operator types with a colour in the legend
    FONT = 11,
    LANE = 34,     // what computes, with
    LANE_GAP = 46, // arrows between
    LANES_FOOT = 30,
};

// ---- Text ----

// Length of the UTF-8 character at `s`; 0 if there is none that XML allows.
static int character_len(const unsigned char *s)
{
    if (s[0] >= 0x20 && s[0] < 0x7f)
        return 1;
    int len = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
              : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
              : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                            : 0;
    for (int i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    int is_overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    int is_beyond = (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90);
    int is_noncharacter = s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe;
    return is_overlong || is_beyond || is_noncharacter ? 0 : len;
}

// What is not text becomes '?': a model may name its tensors as it likes.
static void put_text(FILE *out, const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int len = character_len(s);
        switch (len == 1 ? *s : 0) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default:
            if (len)
                fwrite(s, 1, (size_t)len, out);
            else
                fputc('?', out);
        }
        s += len ? len : 1;
    }
}

static void put_bytes(FILE *out, double byte_count)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (byte_count >= 1024 && unit < 4) {
        byte_count /= 1024;
        unit++;
    }
    fprintf(out, unit && byte_count < 100 ? "%.1f %s" : "%.0f %s", byte_count, units[unit]);
}

// ---- Colours: by the type of the operator that makes the tensor, or by the device that does ----

typedef struct palette {
    char names[MAX_TYPES][32];
    int count;
} palette;

// The type without its arch: "conv2d_cpu" is drawn as "conv2d".
static void type_name(const ln_op *op, char *buf, size_t size)
{
    const ln_op_arg *arg = op ? op->op_arg : NULL;
    size_t len = arg ? strlen(arg->optype) : 0, arch_len = arg && arg->arch ? strlen(arg->arch) : 0;
    if (arch_len && len > arch_len + 1 && strcmp(arg->optype + len - arch_len, arg->arch) == 0 &&
        arg->optype[len - arch_len - 1] == '_')
        len -= arch_len + 1;
    snprintf(buf, size, "%.*s", (int)(len < size ? len : size - 1), arg ? arg->optype : "");
}

// The place of `type` in the list; it is added if there is room, else it shares the last place.
static int place_of(palette *seen, const char *type)
{
    for (int i = 0; i < seen->count; i++) {
        if (strcmp(seen->names[i], type) == 0)
            return i;
    }
    if (seen->count == MAX_TYPES)
        return MAX_TYPES - 1;
    snprintf(seen->names[seen->count], sizeof seen->names[0], "%s", type);
    return seen->count++;
}

// Light enough for black text, and neighbours easy to tell apart; the second round is paler.
static void put_colour(FILE *out, int place)
{
    static const unsigned char colours[][3] = {{142, 186, 229}, {245, 184, 130}, {160, 212, 155},
                                               {240, 160, 160}, {196, 172, 220}, {208, 178, 158},
                                               {240, 190, 218}, {222, 214, 130}, {140, 215, 212},
                                               {190, 190, 190}, {176, 224, 130}, {250, 214, 170}};
    const int count = sizeof colours / sizeof colours[0];
    const unsigned char *c = colours[place % count];
    int white = place / count; // 0 or 1
    fprintf(out, "#%02x%02x%02x", (c[0] + 255 * white) / (1 + white),
            (c[1] + 255 * white) / (1 + white), (c[2] + 255 * white) / (1 + white));
}

// ---- Geometry ----

typedef struct plot {
    FILE *out;
    const ln_context *ctx;
    const ln_plan *plan;
    ln_mem_type mtype;
    double left, top; // of the workspace
    double step_width;
    size_t static_byte_count, workspace_byte_count;
    const uint32_t *columns; // of each step, and how many there are
    palette *seen;
    const model_split *split;
} plot;

static bool has_devices(const plot *p)
{
    return p->split->device_count > 0;
}

// In the legend; `op` NULL: nothing makes the tensor.
static void colour_name(const plot *p, const ln_op *op, char *buf, size_t size)
{
    if (!has_devices(p)) {
        type_name(op, buf, size);
        return;
    }
    int device = op ? split_device_of(p->split, p->ctx, op) : -1;
    snprintf(buf, size, "%s", device == -2 ? "copies" : split_name(p->split, device));
}

static double scaled(size_t byte_count, size_t whole)
{
    return whole ? PLOT_HEIGHT * ((double)byte_count / (double)whole) : 0;
}

// A step that only makes static tensors does not run, and has no column.
static int runs(const ln_plan *plan, const ln_plan_step *step)
{
    for (size_t i = 0; i < step->write_count; i++) {
        if (!plan->values[step->writes[i]].is_static)
            return 1;
    }
    return step->write_count == 0 && step->read_count > 0;
}

// columns[s] is how many steps before s run; the last element counts them all.
static uint32_t *number_columns(const ln_plan *plan)
{
    uint32_t *columns = ln_alloc_array(plan->step_count + 1, sizeof *columns);
    for (size_t s = 0; columns && s < plan->step_count; s++)
        columns[s + 1] = columns[s] + (uint32_t)runs(plan, &plan->steps[s]);
    return columns;
}

static double column_left(const plot *p, size_t step)
{
    return p->left + p->step_width * p->columns[step];
}

static double width_of_columns(size_t count)
{
    double width = count ? 1000.0 / (double)count : 1000;
    return width > 90 ? 90 : width < 3 ? 3 : width;
}

// ---- Tensors ----

static void put_tooltip(const plot *p, const ln_plan_value *value, const ln_tensor_entry *entry,
                        const char *type)
{
    fputs("<title>", p->out);
    put_text(p->out, value->name);
    fputs("  ", p->out);
    if (entry) {
        fputs(tl_dtype_title(entry->tensor->dtype), p->out);
        for (int i = 0; i < entry->tensor->ndim; i++)
            fprintf(p->out, "%c%d", i ? 'x' : ' ', entry->tensor->dims[i]);
    }
    fprintf(p->out, "\n%zu bytes at %zu, steps %u to %u", value->byte_count, value->offset,
            value->first_step, value->last_step);
    if (entry && entry->creater) {
        fputs("\nmade by ", p->out);
        put_text(p->out, entry->creater);
        fprintf(p->out, " (%s)", type);
    }
    if (value->owner) {
        fputs("\naliases ", p->out);
        put_text(p->out, value->owner);
    }
    fprintf(p->out, "%s%s</title>", value->is_input ? "\ninput" : "",
            value->is_output ? "\noutput" : "");
}

static const char *stroke_of(const ln_plan_value *value)
{
    return value->is_input    ? "#06609c\" stroke-width=\"2"
           : value->is_output ? "#b02a1e\" stroke-width=\"2"
                              : "#555\" stroke-width=\"0.5";
}

static void put_label(const plot *p, const ln_plan_value *value, double x, double y, double width,
                      double height)
{
    size_t room = (size_t)(width / (FONT * 0.6));
    if (height < FONT + 2 || room < 2)
        return;
    char label[128];
    size_t len = strlen(value->name);
    if (len > room && room < 4)
        return;
    if (len > room) // the end of a name tells more than its start
        snprintf(label, sizeof label, "..%s", value->name + len - (room - 2));
    else
        snprintf(label, sizeof label, "%s", value->name);
    double middle = y + height / 2 + FONT * 0.35;
    fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" pointer-events=\"none\">", x + 3,
            value->owner ? y + height - 3 : middle);
    put_text(p->out, label);
    fputs("</text>\n", p->out);
}

static void draw_value(const plot *p, const ln_plan_value *value)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(p->ctx->tensor_table, value->name);
    const ln_op *maker = entry ? ln_op_table_find(p->ctx->op_table, entry->creater) : NULL;
    char type[32], colour[32];
    type_name(maker, type, sizeof type);
    colour_name(p, maker, colour, sizeof colour);

    double x, y, width, height, inset = value->owner ? 1.5 : 0;
    if (value->is_static) {
        x = p->left - AXIS - STATIC_WIDTH;
        width = STATIC_WIDTH;
        height = scaled(value->byte_count, p->static_byte_count);
        y = p->top + PLOT_HEIGHT - scaled(value->offset, p->static_byte_count) - height;
    } else {
        size_t offset = value->offset - p->static_byte_count;
        x = column_left(p, value->first_step);
        width = column_left(p, (size_t)value->last_step + 1) - x;
        height = scaled(value->byte_count, p->workspace_byte_count);
        y = p->top + PLOT_HEIGHT - scaled(offset, p->workspace_byte_count) - height;
    }
    if (width > 4 * inset && height > 4 * inset) {
        x += inset;
        y += inset;
        width -= 2 * inset;
        height -= 2 * inset;
    }
    fputs("<g><rect fill=\"", p->out);
    put_colour(p->out, place_of(p->seen, colour));
    fprintf(p->out, "\" stroke=\"%s\"%s x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">",
            stroke_of(value), value->owner ? " stroke-dasharray=\"3 2\"" : "", x, y, width, height);
    put_tooltip(p, value, entry, type);
    fputs("</rect>", p->out);
    put_label(p, value, x, y, width, height);
    fputs("</g>\n", p->out);
}

// Owners first, so that what is in them is seen.
static void draw_values(const plot *p)
{
    for (int is_view = 0; is_view < 2; is_view++) {
        for (size_t i = 0; i < p->plan->value_count; i++) {
            const ln_plan_value *value = &p->plan->values[i];
            // What is gone before the first run would be drawn over what comes then.
            if (value->mtype == p->mtype && !value->owner == !is_view && value->byte_count > 0 &&
                !value->is_load)
                draw_value(p, value);
        }
    }
}

// ---- What is alive ----

static ln_status draw_live_line(const plot *p)
{
    size_t step_count = p->plan->step_count;
    double *change = ln_alloc_array(step_count + 1, sizeof *change);
    if (!change)
        return ln_error_status();
    for (size_t i = 0; i < p->plan->value_count; i++) {
        const ln_plan_value *value = &p->plan->values[i];
        if (value->mtype != p->mtype || value->owner || value->is_static ||
            value->last_step >= step_count)
            continue;
        change[value->first_step] += (double)value->byte_count;
        change[value->last_step + 1] -= (double)value->byte_count;
    }
    fputs("<path fill=\"none\" stroke=\"#111\" stroke-width=\"1.2\" pointer-events=\"none\" d=\"",
          p->out);
    double live = 0;
    for (size_t s = 0; s < step_count; s++) {
        live += change[s];
        if (p->columns[s] == p->columns[s + 1])
            continue;
        double y = p->top + PLOT_HEIGHT - PLOT_HEIGHT * live / (double)p->workspace_byte_count;
        fprintf(p->out, "%c%.1f %.1fH%.1f", p->columns[s] ? 'L' : 'M', column_left(p, s), y,
                column_left(p, s + 1));
    }
    fputs("\"/>\n", p->out);
    ln_free(change);
    return LN_OK;
}

// ---- Axes ----

static void draw_byte_axis(const plot *p, double right, double left, size_t whole)
{
    for (int i = 0; i <= 4; i++) {
        double y = p->top + PLOT_HEIGHT - PLOT_HEIGHT * i / 4.0;
        fprintf(p->out,
                "<path stroke=\"#ddd\" d=\"M%.1f %.1fH%.1f\"/>\n<text text-anchor=\"end\" "
                "x=\"%.1f\" y=\"%.1f\">",
                left, y, right, left - 4, y + FONT * 0.35);
        put_bytes(p->out, (double)whole * i / 4);
        fputs("</text>\n", p->out);
    }
}

// Names where they fit, else the number and name of every n-th step.
static void draw_step_axis(const plot *p)
{
    size_t every = (size_t)((FONT + 2) / p->step_width) + 1;
    if (p->step_width >= FONT + 2)
        every = 1;
    for (size_t s = 0; s < p->plan->step_count; s++) {
        if (p->columns[s] == p->columns[s + 1] || p->columns[s] % every != 0)
            continue;
        double x = column_left(p, s) + p->step_width / 2 + FONT * 0.35;
        double y = p->top + PLOT_HEIGHT + 6;
        char label[24];
        const char *name = p->plan->steps[s].op;
        snprintf(label, sizeof label, strlen(name) < sizeof label ? "%s" : "%.21s..", name);
        fprintf(p->out, "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"end\">",
                x, y);
        put_text(p->out, label);
        fputs("</text>\n", p->out);
    }
}

// ---- Panels ----

static void draw_caption(const plot *p)
{
    const ln_plan_totals *totals = &p->plan->totals[p->mtype];
    fprintf(p->out,
            "<text x=\"%d\" y=\"%.1f\" font-weight=\"bold\">%s: static %zu + workspace %zu = peak "
            "%zu bytes<tspan font-weight=\"normal\"> &#8195;operators that run, in order &#8594; "
            "(steps, not time)</tspan></text>\n",
            MARGIN, p->top - 14, ln_mem_type_title(p->mtype), totals->static_byte_count,
            totals->workspace_byte_count, totals->peak_byte_count);
}

static ln_status draw_panel(const plot *p)
{
    double right = column_left(p, p->plan->step_count);
    double static_left = p->left - AXIS - STATIC_WIDTH;
    draw_caption(p);
    bool has_statics = p->static_byte_count > ln_mem_type_info(p->mtype).align_size;
    if (has_statics) // more than what is reserved
        draw_byte_axis(p, static_left + STATIC_WIDTH, static_left, p->static_byte_count);
    draw_byte_axis(p, right, p->left, p->workspace_byte_count);
    draw_step_axis(p);
    draw_values(p);
    fprintf(p->out, "<path stroke=\"#b02a1e\" stroke-dasharray=\"6 3\" d=\"M%.1f %.1fH%.1f\"/>\n",
            p->left, p->top, right);
    fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
            static_left + STATIC_WIDTH / 2.0, p->top + PLOT_HEIGHT + FONT + 4,
            has_statics ? "static" : "nothing static");
    return p->workspace_byte_count ? draw_live_line(p) : LN_OK;
}

// ---- Lanes ----

static double lane_top(const plot *p, int device)
{
    return p->top + (double)(1 + device) * (LANE + LANE_GAP);
}

static double lanes_height(const model_split *split)
{
    return split->device_count == 0
               ? 0
               : (double)split->device_count * (LANE + LANE_GAP) + LANE + LANES_FOOT;
}

static void draw_lane(const plot *p, int device)
{
    double y = lane_top(p, device), right = column_left(p, p->plan->step_count);
    fprintf(p->out,
            "<rect fill=\"#f4f4f4\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n"
            "<text font-weight=\"bold\" x=\"%d\" y=\"%.1f\">",
            p->left, y, right - p->left, LANE, MARGIN, y + 14);
    put_text(p->out, split_name(p->split, device));
    fprintf(p->out, "</text>\n<text x=\"%d\" y=\"%.1f\">%s</text>\n", MARGIN, y + 28,
            ln_mem_type_title(split_memory(p->split, device)));
}

static void put_op_names(const plot *p, const split_part *part)
{
    const ln_list *l = part->ops;
    for (size_t i = 0; i < part->op_count; i++, l = l->next) {
        const ln_op *op = l->data;
        if (p->columns[part->first_step + i] == p->columns[part->first_step + i + 1])
            continue;
        fputc('\n', p->out);
        put_text(p->out, op->op_arg->name);
        fprintf(p->out, " (%s)", op->op_arg->optype);
    }
}

// What one computes, and for how long others may go on before they wait for it.
static void draw_computed(const plot *p, const split_part *part)
{
    double x = column_left(p, part->first_step), y = lane_top(p, part->device);
    double width = column_left(p, part->first_step + part->op_count) - x;
    double waits = column_left(p, part->wait_step + 1) - x - width;
    char label[32];
    size_t count = part->kind == SPLIT_GROUP ? part->op_count : part->run_count;
    if (width <= 0 || count == 0)
        return;
    fputs("<g><rect stroke=\"#555\" stroke-width=\"0.5\" rx=\"2\" fill=\"", p->out);
    put_colour(p->out, place_of(p->seen, split_name(p->split, part->device)));
    fprintf(p->out, "\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>\n", x, y, width, LANE);
    if (part->kind == SPLIT_GROUP && waits > 0) {
        fputs("<rect fill-opacity=\"0.35\" stroke=\"#555\" stroke-width=\"0.5\" "
              "stroke-dasharray=\"3 2\" fill=\"",
              p->out);
        put_colour(p->out, place_of(p->seen, split_name(p->split, part->device)));
        fprintf(p->out, "\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>\n", x + width,
                y + 6, waits, LANE - 12);
    }
    snprintf(label, sizeof label, width > 100 ? "%zu operator%s" : "%zu", count,
             count == 1 ? "" : "s");
    if (width > 7 * (double)strlen(label) + 2)
        fprintf(p->out,
                "<text text-anchor=\"middle\" pointer-events=\"none\" x=\"%.1f\" "
                "y=\"%.1f\">%s</text>\n",
                x + width / 2, y + LANE / 2.0 + 4, label);
    fprintf(p->out, "<title>%s, steps %zu to %zu", split_name(p->split, part->device),
            part->first_step, part->first_step + part->op_count - 1);
    put_op_names(p, part);
    fputs("</title></g>\n", p->out);
}

static void put_line(const plot *p, double x, double y, int length, const char *style)
{
    fprintf(p->out, "<path stroke-width=\"1.2\" %s d=\"M%.1f %.1fv%d\"/>", style, x, y, length);
}

// Lanes between the two cover it.
static void draw_arrow(const plot *p, double x, int from, int to)
{
    int step = to > from ? 1 : -1;
    for (int lane = from; lane != to; lane += step) {
        put_line(p, x, lane_top(p, step > 0 ? lane : lane - 1) + LANE, LANE_GAP, "stroke=\"#333\"");
        if (lane + step != to)
            put_line(p, x, lane_top(p, lane + step), LANE,
                     "stroke=\"#999\" stroke-dasharray=\"2 4\"");
    }
    fprintf(p->out, "<path fill=\"#333\" d=\"M%.1f %.1fl-4 %dh8z\"/>\n", x,
            lane_top(p, to) + (step > 0 ? 0 : LANE), -6 * step);
}

// Where there is room, the bytes stand beside the arrow.
static void draw_copy(const plot *p, const split_part *part)
{
    double x = column_left(p, part->first_step) + p->step_width / 2;
    double y = lane_top(p, part->to > part->from ? part->to : part->from) - LANE_GAP + 4;
    const ln_op *op = part->ops->data;
    fputs("<g>", p->out);
    draw_arrow(p, x, part->from, part->to);
    if (p->step_width >= FONT) {
        fprintf(p->out,
                "<text font-size=\"9\" text-anchor=\"end\" transform=\"translate(%.1f %.1f) "
                "rotate(-90)\">",
                x - 2, y);
        put_bytes(p->out, (double)part->byte_count);
        fputs("</text>", p->out);
    }
    fprintf(p->out, "<title>copy of %zu bytes from %s to %s, step %zu\n", part->byte_count,
            split_name(p->split, part->from), split_name(p->split, part->to), part->first_step);
    put_text(p->out, op->op_arg->name);
    fputs("</title></g>\n", p->out);
}

// All that is copied to a device before the first run, left of the steps.
static void draw_loaded(const plot *p, int device)
{
    size_t count = 0;
    double byte_count = 0, x = p->left - AXIS - STATIC_WIDTH + 12 + 6 * device;
    for (size_t i = 0; i < p->split->part_count; i++) {
        const split_part *part = &p->split->parts[i];
        if (part->kind != SPLIT_COPY || !part->is_at_load || part->to != device)
            continue;
        count++;
        byte_count += (double)part->byte_count;
    }
    if (count == 0)
        return;
    fputs("<g>", p->out);
    draw_arrow(p, x, -1, device);
    fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\">", x + 6, lane_top(p, device) - LANE_GAP + 20);
    put_bytes(p->out, byte_count);
    fprintf(p->out, "</text>\n<text x=\"%.1f\" y=\"%.1f\">at load</text>", x + 6,
            lane_top(p, device) - LANE_GAP + 33);
    fprintf(p->out,
            "<title>%zu copies of constants, %.0f bytes, when the model is loaded</title></g>\n",
            count, byte_count);
}

static void draw_lanes(const plot *p)
{
    for (int device = -1; device < (int)p->split->device_count; device++)
        draw_lane(p, device);
    for (int device = 0; device < (int)p->split->device_count; device++)
        draw_loaded(p, device);
    for (size_t i = 0; i < p->split->part_count; i++) {
        const split_part *part = &p->split->parts[i];
        if (part->kind == SPLIT_HOST || part->kind == SPLIT_GROUP)
            draw_computed(p, part);
    }
    for (size_t i = 0; i < p->split->part_count; i++)
        if (p->split->parts[i].kind == SPLIT_COPY && !p->split->parts[i].is_at_load)
            draw_copy(p, &p->split->parts[i]);
}

// In the order of the lanes.
static void seed_palette(const model_split *split, palette *seen)
{
    if (split->device_count == 0)
        return;
    (void)place_of(seen, split_name(split, -1));
    (void)place_of(seen, "copies"); // one colour, however many devices there are
    for (int device = 0; device < (int)split->device_count; device++)
        (void)place_of(seen, split_name(split, device));
}

// ---- Legend ----

static void draw_sample(FILE *out, double x, double y, const char *style, const char *text)
{
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"11\" %s/>", x, y - 9, style);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 28, y, text);
}

static void draw_legend(FILE *out, const palette *seen, const model_split *split, double y,
                        double width)
{
    double x = MARGIN;
    draw_sample(out, x, y, "fill=\"#fff\" stroke=\"#06609c\" stroke-width=\"2\"", "input");
    draw_sample(out, x + 90, y, "fill=\"#fff\" stroke=\"#b02a1e\" stroke-width=\"2\"", "output");
    draw_sample(out, x + 180, y, "fill=\"#fff\" stroke=\"#555\" stroke-dasharray=\"3 2\"",
                "is in another tensor");
    fprintf(out,
            "<path stroke=\"#111\" d=\"M%.1f %.1fh22\"/><text x=\"%.1f\" y=\"%.1f\">alive</text>\n"
            "<path stroke=\"#b02a1e\" stroke-dasharray=\"6 3\" d=\"M%.1f %.1fh22\"/>"
            "<text x=\"%.1f\" y=\"%.1f\">peak</text>\n",
            x + 380, y - 4, x + 408, y, x + 460, y - 4, x + 488, y);
    if (split->device_count > 0)
        draw_sample(out, x + 550, y, "fill=\"#fff\" stroke=\"#555\" stroke-dasharray=\"3 2\"",
                    "in a lane: started, others go on");
    y += LEGEND_ROW;
    for (int i = 0; i < seen->count; i++) {
        if (x + 150 > width) {
            x = MARGIN;
            y += LEGEND_ROW;
        }
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"11\" fill=\"", x, y - 9);
        put_colour(out, i);
        fprintf(out, "\"/><text x=\"%.1f\" y=\"%.1f\">", x + 28, y);
        put_text(out, seen->names[i]);
        fputs("</text>\n", out);
        x += 150;
    }
}

// ---- What devices refused ----

// The lines of `notes`; NULL without memory.
static char *note_text(const offload_notes *notes)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    split_print_notes(out, notes);
    return fclose(out) == 0 ? text : (free(text), NULL);
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void draw_notes(FILE *out, char *text, double y)
{
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        fprintf(out, "<text x=\"%d\" y=\"%.1f\">", MARGIN, y);
        put_text(out, line);
        fputs("</text>\n", out);
        y += NOTE_ROW;
    }
}

// ---- The picture ----

static int panel_count(const ln_plan *plan)
{
    int count = 0;
    for (int m = 1; m < LN_MEM_TYPE_SIZE; m++)
        count += plan->totals[m].peak_byte_count > 0;
    return count;
}

static void draw_title(FILE *out, const ln_context *ctx, const ln_plan *plan,
                       const model_split *split, size_t run_count)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"17\">%s of ", MARGIN, MARGIN + 8,
            split->device_count > 0 ? "Devices and memory" : "Memory plan");
    put_text(out, ln_context_source(ctx) ? ln_context_source(ctx) : "a model");
    fputs(" for ", out);
    put_text(out, ln_context_target(ctx) ? ln_context_target(ctx) : "?");
    fprintf(out, ", %zu operators, %zu in a run</text>\n", plan->step_count, run_count);
}

static ln_status write_svg(FILE *out, const ln_context *ctx, const ln_plan *plan,
                           const model_split *split, const uint32_t *columns, char *notes)
{
    double left = MARGIN + AXIS + STATIC_WIDTH + AXIS;
    double step_width = width_of_columns(columns[plan->step_count]);
    double width = left + step_width * columns[plan->step_count] + MARGIN;
    double least = split->device_count > 0 ? 840 : 640;
    if (width < least)
        width = least;
    int types_in_row = (int)((width - MARGIN) / 150);
    int legend_rows = 2 + MAX_TYPES / (types_in_row ? types_in_row : 1);
    double height = HEAD + lanes_height(split) +
                    panel_count(plan) * (double)(PLOT_HEIGHT + FOOT + 30) +
                    legend_rows * LEGEND_ROW + count_lines(notes) * NOTE_ROW;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"%d\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height, FONT);
    draw_title(out, ctx, plan, split, columns[plan->step_count]);

    palette seen = {.count = 0};
    ln_status status = LN_OK;
    double top = HEAD + 14 + lanes_height(split);
    seed_palette(split, &seen);
    if (split->device_count > 0)
        draw_lanes(&(plot){.out = out,
                           .ctx = ctx,
                           .plan = plan,
                           .left = left,
                           .top = HEAD - 14,
                           .step_width = step_width,
                           .columns = columns,
                           .seen = &seen,
                           .split = split});
    for (int m = 1; m < LN_MEM_TYPE_SIZE && status == LN_OK; m++) {
        const ln_plan_totals *totals = &plan->totals[m];
        if (totals->peak_byte_count == 0)
            continue;
        plot p = {.out = out,
                  .ctx = ctx,
                  .plan = plan,
                  .mtype = (ln_mem_type)m,
                  .left = left,
                  .top = top,
                  .step_width = step_width,
                  .static_byte_count = totals->static_byte_count,
                  .workspace_byte_count = totals->workspace_byte_count,
                  .columns = columns,
                  .seen = &seen,
                  .split = split};
        status = draw_panel(&p);
        top += PLOT_HEIGHT + FOOT + 30;
    }
    draw_legend(out, &seen, split, top, width);
    draw_notes(out, notes, height - count_lines(notes) * NOTE_ROW);
    fputs("</svg>\n", out);
    return status;
}

ln_status plan_write_svg(FILE *out, const ln_context *ctx, const ln_plan *plan,
                         const model_split *split, const offload_notes *notes)
{
    uint32_t *columns = number_columns(plan);
    if (!columns)
        return ln_error_status();
    char *text = note_text(notes);
    ln_status status = text ? write_svg(out, ctx, plan, split, columns, text)
                            : LN_FAIL(LN_NO_MEMORY, "lines of the picture");
    free(text);
    ln_free(columns);
    return status;
}
