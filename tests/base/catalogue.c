/* docs/errors.md has one section for each row of error.def, in its order, with its code, scope, sentence and advice,
 * and none for anything else. */
#include "base/error.h"
#include "check.h"
#include <ctype.h>

static char page[65536];

static const char *const scope_word[] = {"operation", "link", "nic", "job"};

/* "Scope: link. The sentence." as the page writes it, from the table's "the sentence". */
static void check_row(const char *name, int code, const char **at)
{
    char heading[100], scope[300], advice[400];
    const char *sentence = vbase_error_sentence(code);
    snprintf(heading, sizeof(heading), "\n## %s (%d)\n", name, code);
    snprintf(scope, sizeof(scope), "\nScope: %s. %c%s.\n", scope_word[vbase_error_scope(code)],
             toupper((unsigned char)*sentence), sentence + 1);
    snprintf(advice, sizeof(advice), "\nWhat to do: %s.\n", vbase_error_remedy(code));
    const char *section = strstr(*at, heading);
    const char *end = section ? strstr(section + 1, "\n## ") : NULL;
    const char *tells = section ? strstr(section, scope) : NULL, *helps = section ? strstr(section, advice) : NULL;
    if (!section || !tells || !helps || (end && (tells > end || helps > end))) {
        fprintf(stderr, "docs/errors.md: %s lacks one of, in this order:%s%s%s", name, heading, scope, advice);
        check_failed++;
    }
    if (section)
        *at = section + 1;
}

int main(void)
{
    const char *source = getenv("VIADUCT_SOURCE");
    char path[1000];
    snprintf(path, sizeof(path), "%s/docs/errors.md", source ? source : ".");
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s cannot be read\n", path);
        return 1;
    }
    size_t size = fread(page, 1, sizeof(page) - 1, file);
    fclose(file);
    CHECK(size > 1000 && size < sizeof(page) - 1);

    const char *at = page;
    int rows = 0, sections = 0;
#define ERROR(name, code, scope, sentence, remedy)                                                                     \
    check_row(#name, code, &at);                                                                                       \
    rows++;
#include "base/error.def"
#undef ERROR
    for (const char *p = page; (p = strstr(p, "\n## ")); p++)
        sections++;
    CHECK_EQUAL(sections, rows);
    return check_done();
}
