/* Makes a fuzz target a plain program too: `target FILE...` runs each file once, which is how its corpus is replayed
 * as a test. With -DNK_LIBFUZZER the main function is libFuzzer's. Include last. */
#ifndef NK_FUZZ_REPLAY_H
#define NK_FUZZ_REPLAY_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

#ifndef NK_LIBFUZZER
#include <stdio.h>
#include <stdlib.h>

int main(int n_arguments, char **arguments)
{
	for (int i = 1; i < n_arguments; i++) {
		FILE *file = fopen(arguments[i], "rb");
		long n = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
		uint8_t *bytes = n < 0 ? NULL : malloc((size_t)n + !n);
		if (!bytes || fseek(file, 0, SEEK_SET) < 0 || fread(bytes, 1, (size_t)n, file) != (size_t)n) {
			fprintf(stderr, "cannot read %s\n", arguments[i]);
			return 1;
		}
		fclose(file);
		LLVMFuzzerTestOneInput(bytes, (size_t)n);
		free(bytes);
	}
	return 0;
}
#endif

#endif
