int main(int, char **); /* renamed, see main.c */
