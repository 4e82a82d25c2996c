/* A server: threads of one program, each with a session, answer clients of a TCP port.
 * Usage: serve MODEL WEIGHTS [PORT [THREADS]]. A client sends the bytes of the input, and gets
 * those of the output, as often as it likes. Port 0, the default, is any that is free; it is
 * printed. Only clients on this machine are heard. SIGTERM and SIGINT end it. */
#define _POSIX_C_SOURCE 200809L
#include <lightnet/use.h>

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct server {
    ln_program *program;
    int listener;
    const char *input, *output;
    size_t input_bytes, output_bytes;
} server;

/* 0 if all of it was moved, -1 if the client is gone. */
static int receive_all(int client, char *bytes, size_t count)
{
    for (ssize_t n; count > 0; bytes += n, count -= (size_t)n)
        if ((n = recv(client, bytes, count, 0)) <= 0)
            return -1;
    return 0;
}

static int send_all(int client, const char *bytes, size_t count)
{
    for (ssize_t n; count > 0; bytes += n, count -= (size_t)n)
        if ((n = send(client, bytes, count, MSG_NOSIGNAL)) <= 0)
            return -1;
    return 0;
}

static ln_status answer(const server *s, ln_session *session, int client, char *request)
{
    const void *bytes;
    size_t count;
    while (receive_all(client, request, s->input_bytes) == 0) {
        LN_TRY(ln_session_set_data(session, s->input, request, s->input_bytes));
        LN_TRY(ln_session_run(session));
        LN_TRY(ln_session_borrow_data(session, s->output, &bytes, &count));
        if (send_all(client, bytes, count) != 0)
            break;
    }
    return LN_OK;
}

/* A session of its own: no thread waits for another. It ends with the listener. */
static void *work(void *user)
{
    const server *s = user;
    ln_session *session = NULL;
    char *request = malloc(s->input_bytes);
    if (!request || ln_session_create(s->program, &session) != LN_OK)
        fprintf(stderr, "serve: %s\n", request ? ln_error_message() : "memory ran out");
    for (int client; session && (client = accept(s->listener, NULL, NULL)) >= 0; close(client))
        if (answer(s, session, client, request) != LN_OK) /* goes on with the next client */
            fprintf(stderr, "serve: %s\n", ln_error_message());
    ln_session_free(session);
    free(request);
    return NULL;
}

/* The program of a model: what a server keeps of it. */
static ln_status open_program(const char *model, const char *weights, ln_program **out_program)
{
    ln_context *ctx = ln_context_create();
    ln_status status = ln_context_init(ctx, model);
    if (status == LN_OK)
        status = ln_context_compile(ctx, "cpu");
    if (status == LN_OK)
        status = ln_context_set_threads(ctx, 1); /* clients are served side by side instead */
    if (status == LN_OK)
        status = ln_context_load(ctx, weights);
    if (status == LN_OK)
        status = ln_program_create(ctx, out_program);
    ln_context_free(ctx);
    return status;
}

static ln_status describe(server *s)
{
    const tl_tensor *in, *out;
    LN_TRY(ln_program_input(s->program, 0, &s->input, &in));
    LN_TRY(ln_program_output(s->program, 0, &s->output, &out));
    s->input_bytes = (size_t)in->len * tl_size_of(in->dtype);
    s->output_bytes = (size_t)out->len * tl_size_of(out->dtype);
    printf("%s: %zu bytes, %s: %zu bytes\n", s->input, s->input_bytes, s->output, s->output_bytes);
    return LN_OK;
}

/* A socket that listens, with its port printed; -1 if that fails. */
static int listen_on(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 64) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("serve");
        return -1;
    }
    printf("port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static void serve(server *s, int thread_count)
{
    pthread_t threads[64];
    sigset_t ends;
    int made = 0, signal_number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* threads inherit it */
    while (made < thread_count && pthread_create(&threads[made], NULL, work, s) == 0)
        made++;
    sigwait(&ends, &signal_number);
    shutdown(s->listener, SHUT_RDWR); /* accept fails from now on; clients end when they close */
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    server s = {.listener = -1};
    int port = argc > 3 ? atoi(argv[3]) : 0, threads = argc > 4 ? atoi(argv[4]) : 4;
    if (argc < 3 || port < 0 || port > 65535 || threads < 1 || threads > 64) {
        fprintf(stderr, "usage: serve MODEL WEIGHTS [PORT [THREADS]], with at most 64 threads\n");
        return 2;
    }
    ln_arch_init();
    ln_status status = open_program(argv[1], argv[2], &s.program);
    if (status == LN_OK)
        status = describe(&s);
    if (status != LN_OK)
        fprintf(stderr, "serve: %s\n", ln_error_message());
    else if ((s.listener = listen_on(port)) >= 0)
        serve(&s, threads);
    int is_served = s.listener >= 0;
    if (is_served)
        close(s.listener);
    ln_program_release(s.program);
    ln_arch_cleanup();
    return !is_served;
}
