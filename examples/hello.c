/* Reads a handwritten digit. Usage: hello [FOLDER], where FOLDER holds digits.net. */
#include <lightnet/use.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "models/digits";
    /* 0 is paper, 9 is ink. */
    const char *rows[8] = {"01797100", "03837700", "00028400", "00194000",
                           "00179610", "00003840", "00302840", "00998410"};
    char model[1024], weights[1024];
    float pixels[64], prob[10];
    snprintf(model, sizeof model, "%s/digits.net", folder);
    snprintf(weights, sizeof weights, "%s/digits.safetensors", folder);
    for (int i = 0; i < 64; i++)
        pixels[i] = (float)(rows[i / 8][i % 8] - '0') / 9;

    ln_arch_init();
    ln_context *ctx = ln_context_create();
    if (ln_context_init(ctx, model) != LN_OK ||    /* read */
        ln_context_compile(ctx, "cpu") != LN_OK || /* rewrite, plan the memory */
        ln_context_load(ctx, weights) != LN_OK ||  /* allocate it */
        ln_context_set_data_n(ctx, "image", pixels, sizeof pixels) != LN_OK ||
        ln_context_run(ctx) != LN_OK ||
        ln_context_get_data_n(ctx, "prob", prob, sizeof prob) != LN_OK) {
        fprintf(stderr, "%s\n", ln_error_message());
        return 1;
    }
    int digit = 0;
    for (int i = 1; i < 10; i++)
        digit = prob[i] > prob[digit] ? i : digit;
    printf("This is a %d (%.0f %%).\n", digit, 100 * (double)prob[digit]);
    ln_context_free(ctx);
    return 0;
}
