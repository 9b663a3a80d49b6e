/* Proves of base/task: every task runs once, worker numbers are exclusive, the failure with the lowest sequence is
 * reported, tasks may wait for groups of their own, flags and deadlines end groups, waiting threads tick, a forked child works. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/task.h"
#include "base/watch.h"
#include "expect.h"

enum { N_TASKS = 2000, N_THREADS = 4 };

static nk_pool *pool;
static int n_run, busy[N_THREADS], n_clashes;

static nk_status count_task(void *argument, int worker, nk_error *err)
{
	(void)argument, (void)err;
	if (__atomic_exchange_n(&busy[worker], 1, __ATOMIC_ACQ_REL))
		__atomic_add_fetch(&n_clashes, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&n_run, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&busy[worker], 0, __ATOMIC_RELEASE);
	return NK_OK;
}

static void every_task_runs_once(void)
{
	nk_task_group *group = nk_task_group_new(pool);
	EXPECT(nk_task_group_n_workers(group) == N_THREADS);
	for (int round = 1; round <= 3; round++) {
		n_run = 0;
		for (int i = 0; i < N_TASKS; i++)
			EXPECT(nk_task_spawn(group, count_task, NULL, i, NULL) == NK_OK);
		EXPECT(nk_task_group_wait(group, NULL) == NK_OK);
		EXPECT(n_run == N_TASKS && n_clashes == 0);
	}
	nk_task_group_free(group);
}

static nk_status fail_task(void *argument, int worker, nk_error *err)
{
	(void)worker;
	return nk_fail(err, NK_COMPUTE, "task %d", *(int *)argument);
}

static void the_lowest_sequence_is_reported(void)
{
	int numbers[N_THREADS] = {3, 2, 1, 0};
	nk_error err = {0};
	nk_pool *one = nk_pool_new(1); /* nothing runs before wait, so the first task to run is known */
	nk_task_group *group = nk_task_group_new(one);
	for (int i = 0; i < N_THREADS; i++)
		EXPECT(nk_task_spawn(group, fail_task, &numbers[i], numbers[i], NULL) == NK_OK);
	EXPECT(nk_task_group_wait(group, &err) == NK_COMPUTE && strncmp(err.message, "task", 4) == 0);
	EXPECT(nk_task_group_stopped(group));
	nk_task_group_free(group);
	nk_pool_free(one);
}

static nk_status nest_task(void *argument, int worker, nk_error *err)
{
	(void)worker;
	nk_task_group *group = nk_task_group_new(pool);
	for (int i = 0; i < 20; i++)
		NK_TRY(nk_task_spawn(group, argument ? nest_task : count_task, NULL, i, err));
	nk_status status = nk_task_group_wait(group, err);
	nk_task_group_free(group);
	return status;
}

static void tasks_wait_for_groups_of_their_own(void)
{
	nk_task_group *group = nk_task_group_new(pool);
	n_run = 0;
	for (int i = 0; i < 10; i++)
		EXPECT(nk_task_spawn(group, nest_task, &n_run, i, NULL) == NK_OK);
	EXPECT(nk_task_group_wait(group, NULL) == NK_OK);
	EXPECT(n_run == 10 * 20 * 20);
	nk_task_group_free(group);
}

static nk_status spin_task(void *argument, int worker, nk_error *err)
{
	(void)worker, (void)err;
	while (!nk_task_group_stopped(argument))
		usleep(100);
	return NK_OK;
}

static nk_status raise_task(void *argument, int worker, nk_error *err)
{
	(void)worker, (void)err;
	usleep(2000);
	__atomic_store_n((int *)argument, 1, __ATOMIC_RELAXED);
	return NK_OK;
}

static void a_flag_ends_a_group(void)
{
	int flag = 0;
	nk_error err = {0};
	nk_task_group *other = nk_task_group_new(pool);
	nk_watch watch = {.flag = &flag};
	nk_watch_enter(&watch);
	nk_task_group *group = nk_task_group_new(pool);
	EXPECT(nk_task_spawn(other, raise_task, &flag, 0, NULL) == NK_OK);
	EXPECT(nk_task_spawn(group, spin_task, group, 0, NULL) == NK_OK);
	EXPECT(nk_task_group_wait(group, &err) == NK_CANCELLED && err.message[0]);
	nk_watch_leave(&watch);
	EXPECT(nk_task_group_wait(other, NULL) == NK_OK);
	nk_task_group_free(group);
	nk_task_group_free(other);
}

static void a_deadline_ends_a_group_within_another(void)
{
	nk_error err = {0};
	int never = 0;
	nk_watch outer = {.deadline = nk_now_ns() + 20000000, .seconds = .02}, inner = {.flag = &never};
	nk_watch_enter(&outer);
	nk_watch_enter(&inner);
	nk_task_group *group = nk_task_group_new(pool);
	for (int i = 0; i < N_THREADS; i++)
		EXPECT(nk_task_spawn(group, spin_task, group, i, NULL) == NK_OK);
	EXPECT(nk_task_group_wait(group, &err) == NK_TIMEOUT && strstr(err.message, "0.02 s"));
	nk_task_group_free(group);
	nk_watch_leave(&inner);
	nk_watch_leave(&outer);
	EXPECT(nk_watch_check(NULL) == NK_OK);
}

static void count_tick(void *count) { ++*(int *)count; }

static nk_status sleep_task(void *argument, int worker, nk_error *err)
{
	(void)argument, (void)worker;
	for (int i = 0; i < 200; i++) {
		usleep(1000);
		NK_TRY(nk_watch_check(err));
	}
	return NK_OK;
}

/* The pool's thread sleeps, or this one does: either way this one is called. */
static void a_waiting_thread_ticks(void)
{
	int n_ticks = 0;
	nk_watch watch = {.tick = count_tick, .data = &n_ticks};
	nk_watch_enter(&watch);
	nk_task_group *group = nk_task_group_new(pool);
	for (int i = 0; i < 2; i++)
		EXPECT(nk_task_spawn(group, sleep_task, NULL, i, NULL) == NK_OK);
	EXPECT(nk_task_group_wait(group, NULL) == NK_OK);
	nk_task_group_free(group);
	nk_watch_leave(&watch);
	EXPECT(n_ticks > 0 && n_ticks < 10);
}

#if !defined(__SANITIZE_THREAD__) /* it refuses threads in a forked child */
static void a_forked_child_starts_threads_of_its_own(void)
{
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		nk_task_group *group = nk_task_group_new(pool);
		n_run = 0;
		for (int i = 0; i < N_TASKS; i++)
			if (nk_task_spawn(group, count_task, NULL, i, NULL) != NK_OK)
				_exit(2);
		nk_status status = nk_task_group_wait(group, NULL);
		_exit(status == NK_OK && n_run == N_TASKS ? 0 : 1);
	}
	int how = -1;
	EXPECT(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0);
}
#endif

int main(void)
{
	pool = nk_pool_new(N_THREADS);
	every_task_runs_once();
	the_lowest_sequence_is_reported();
	tasks_wait_for_groups_of_their_own();
	a_flag_ends_a_group();
	a_deadline_ends_a_group_within_another();
	a_waiting_thread_ticks();
#if !defined(__SANITIZE_THREAD__)
	a_forked_child_starts_threads_of_its_own();
#endif
	nk_pool_free(pool);
	return expect_report();
}
