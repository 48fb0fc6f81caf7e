# Puts the page together and writes it as a C string: a line `@NAME@` alone becomes the file NAME beside
# this one. The compiler's limit on one literal is long past, so it is an array of bytes, a line a line.
BEGIN {
    for (k = 1; k < 256; k++) code[sprintf("%c", k)] = k
    print "/* Generated from ref/view/page. */"
    print "extern const unsigned char alar_view_page[];"
    print "const unsigned char alar_view_page[] = {"
}
function line(text,    k, out) {
    for (k = 1; k <= length(text); k++) out = out code[substr(text, k, 1)] ","
    print out "10,"
}
/^@[a-z.]+@$/ && !/^@DATA@$/ {
    name = "ref/view/page/" substr($0, 2, length($0) - 2)
    while ((getline text < name) > 0) line(text)
    close(name)
    next
}
{ line($0) }
END { print "0};" }
