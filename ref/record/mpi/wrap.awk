# Writes the recorder's wrappers of all MPI functions that have none of their own, from the library's
# own header: mpicc -E on <mpi.h> in, C out. Each one says where the thread stands; a collective call
# of a communicator goes on record; what makes a communicator gives it its number.

BEGIN {
    # Wrapped by hand, or not to be wrapped: what begins and ends MPI, and what tells the time.
    split("Init Init_thread Finalize Abort Allreduce Allreduce_c Iallreduce Iallreduce_c " \
          "Allreduce_init Allreduce_init_c Start Startall Request_free Cancel Wait Waitall Waitany " \
          "Waitsome Test Testall Testany Testsome Request_get_status Comm_idup Comm_idup_with_info " \
          "Reduce Ireduce Allgather Iallgather Reduce_scatter Ireduce_scatter Reduce_scatter_block " \
          "Ireduce_scatter_block Scan Iscan Reduce_c Ireduce_c Allgather_c Iallgather_c Reduce_scatter_c " \
          "Ireduce_scatter_c Reduce_scatter_block_c Ireduce_scatter_block_c Scan_c Iscan_c " \
          "Comm_free Comm_disconnect Session_init Session_finalize Pcontrol Get_library_version " \
          "Get_version Initialized Finalized Wtime Wtick Is_thread_main Query_thread", list, " ")
    for (k in list) { own[list[k]] = 1 }
    # These touch nothing outside the process.
    local = "^(T_|Type_|Group_|Info_|Attr_|Error_|Add_error|Op_|Pack|Unpack|Get_|Status_|Keyval_|Errhandler_|" \
            "Address|Aint_|Buffer_|Cart_(coords|get|map|rank|shift)|Cartdim|Dims_create|Graph_(get|map|nei)|" \
            "Graphdims|Dist_graph_nei|Topo_test|Register|Sizeof|Request_c2f|Grequest|Session_|Message_|" \
            "Comm_(rank|size|compare|group|remote|test_inter|get_|set_|call_|create_err|create_key|delete|free_key)|" \
            "(Win|File)_(get_|set_|call_|create_err|create_key|delete_attr|free_key))"
    collective = "^I?(barrier|bcast|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|reduce|reduce_scatter|" \
                 "reduce_scatter_block|scan|exscan|neighbor_[a-z]+)(_init)?$"
    makes = "^(comm_dup|comm_dup_with_info|comm_create|comm_split|comm_split_type|cart_create|cart_sub|" \
            "graph_create|dist_graph_create|dist_graph_create_adjacent)$"
    RS = ";"
}

/^[^{}]*[ \t\n]P?MPI_[A-Z][A-Za-z_0-9]*[ \t\n]*\(/ {
    text = $0
    gsub(/#[^\n]*\n/, " ", text)
    while (sub(/__attribute__[ ]*\(\(([^()]|\([^()]*\))*\)\)/, " ", text)) { }
    gsub(/[ \t\n]+/, " ", text)
    if (!match(text, /int P?MPI_[A-Z][A-Za-z_0-9]* ?\(/)) { next }
    head = substr(text, RSTART + 4, RLENGTH - 4)
    rest = substr(text, RSTART + RLENGTH)
    sub(/ ?\($/, "", head)
    sub(/\)[^)]*$/, "", rest)
    if (head ~ /^PMPI_/) {
        profiled[substr(head, 6)] = 1
    } else if (!(substr(head, 5) in params)) {
        order[++count] = substr(head, 5)
        params[substr(head, 5)] = rest
    }
}

# The name of a parameter: the last word before its brackets.
function parameter(text) {
    gsub(/\[[^]]*\]/, "", text)
    match(text, /[A-Za-z_0-9]+ *$/)
    text = substr(text, RSTART, RLENGTH)
    gsub(/ /, "", text)
    return text
}

function wrap(name,    n, k, parts, p, arguments, peer, root, comm, made, low, base) {
    n = split(params[name], parts, ",")
    arguments = ""; peer = "RECORD_NO_PEER"; root = ""; comm = ""; made = ""
    for (k = 1; k <= n; k++) {
        if (parts[k] ~ /\(/ || parts[k] ~ /\.\.\./) { return }
        p = parameter(parts[k])
        if (p == "void") { continue }
        arguments = arguments (arguments == "" ? "" : ", ") p
        if (p == "dest" && peer == "RECORD_NO_PEER") { peer = p }
        if (p == "source") { peer = p }
        if (p == "root") { root = p }
        if (parts[k] ~ /MPI_Comm +comm$/ || parts[k] ~ /MPI_Comm +old_comm$/ || parts[k] ~ /MPI_Comm +comm_old$/) { comm = p }
        if (parts[k] ~ /MPI_Comm *\* *[a-z_]+ *$/) { made = p }
    }
    base = name
    sub(/_c$/, "", base)
    low = tolower(base)
    sub(/^i/, "I", low)
    print "int MPI_" name "(" params[name] ")"
    print "{"
    print "    struct record_slot *slot = record_arrive(\"MPI_" base "\", " (root != "" ? root : peer) ","
    print "                                             __builtin_return_address(0));"
    if (comm != "" && (tolower(base) ~ makes || low ~ collective || tolower(base) ~ tolower(collective))) {
        print "    record_collective(slot->name, " comm ", " (root != "" ? root : "RECORD_NO_PEER") ", slot->caller);"
    }
    print "    int code = PMPI_" name "(" arguments ");"
    if (made != "") { print "    (void)record_made(code, " made ");" }
    print "    record_depart(slot);"
    print "    return code;"
    print "}\n"
}

END {
    print "/* Generated from mpi.h by wrap.awk. */"
    print "#include \"record/mpi/record_mpi.h\"\n"
    print "#pragma GCC visibility push(default)\n"
    for (k = 1; k <= count; k++) {
        name = order[k]
        if (profiled[name] && !(name in own) && name !~ local && name !~ /_(c2f|f2c|f082c|c2f08|fromint|toint)$/ && name !~ /_F?N(ULL)?$/) { wrap(name) }
    }
}
