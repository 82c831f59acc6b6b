int main(void); /* renamed, see main.c */
