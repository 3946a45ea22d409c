// The scripts. Numbers are those of the list of hazards that other watchers' own tests taught.

extension Scenario {
    static let all: [Scenario] = [
        Scenario(
            name: "1 a directory is replaced by a link to where it went",
            setup: """
                mkdir foo
                write foo/a 1
                """,
            script: """
                mv foo bar
                ln -s bar foo
                write bar/b 1
                """
        ),
        Scenario(
            name: "2 directories are moved into one another and back",
            setup: """
                mkdir a
                write a/f 1
                """,
            script: """
                mkdir d1
                mkdir d2
                mv d1 d2/d1
                mv d2/d1 d1
                mv a d1/a
                write d1/a/f 22
                """
        ),
        Scenario(
            name: "3 directories go to and fro",
            setup: """
                mkdir -p d1/x/y
                mkdir d2
                mkdir d3
                write d1/x/y/f 1
                """,
            script: """
                mv d1 d3/d1
                mv d3/d1 d2/d1
                mv d2/d1 d1
                mv d1 d3/d1
                write d3/d1/x/y/f 22
                check
                mv d3 d2/d3
                write d2/d3/d1/x/y/f 333
                mv d2/d3/d1 d1
                check
                write d1/x/y/f 1
                """
        ),
        Scenario(
            name: "4 removals in a child",
            setup: """
                mkdir -p a/b
                write a/f 1
                """,
            script: """
                rmdir a/b
                rm a/f
                """
        ),
        Scenario(
            name: "5 a directory is replaced at once",
            setup: """
                mkdir d
                write d/f 1
                """,
            script: """
                mkdir -p new/sub
                write new/sub/g 2
                exchange new d
                rm -r new
                write d/sub/g 33
                """
        ),
        Scenario(
            name: "5 a directory is renamed over an empty one",
            setup: """
                mkdir -p d1/sub
                mkdir d2
                """,
            script: """
                mv d1 d2
                write d2/sub/f 1
                check
                mkdir d1
                write d1/f 1
                """
        ),
        Scenario(
            name: "6 a tree is removed and rebuilt",
            setup: """
                mkdir -p a/b/c
                write a/b/c/f 1
                """,
            script: """
                rm -r a
                check
                mkdir -p a/b/c
                write a/b/c/f 2
                check
                rm -r a
                mkdir -p a/b/c
                write a/b/c/f 333
                """
        ),
        Scenario(
            name: "7 a directory becomes a file of that name",
            setup: """
                mkdir -p d/sub
                write d/f 1
                """,
            script: """
                rm -r d
                write d text
                """
        ),
        Scenario(
            name: "9 a directory is emptied, removed and begun anew",
            setup: """
                mkdir foo
                write foo/111 1
                write foo/222 1
                """,
            script: """
                rm foo/111
                rm foo/222
                rmdir foo
                mkdir foo
                write foo/222 2
                """
        ),
        Scenario(
            name: "13 a name that begins like another",
            setup: """
                mkdir build
                mkdir builda
                """,
            script: """
                write builda/f 1
                write build.txt 1
                check
                rm -r build
                write builda/f 22
                """
        ),
        Scenario(
            name: "14 directories and a file at once",
            script: """
                mkdir -p foo/bar
                write foo/bar/111 1
                """
        ),
        Scenario(
            name: "15 a directory with a subdirectory is renamed",
            setup: """
                mkdir -p one/two
                write one/two/f 1
                """,
            script: """
                mv one three
                write three/two/f 22
                write three/two/g 1
                check
                write three/two/f 333
                """
        ),
        Scenario(
            name: "16 a neighbour whose name is a prefix is renamed",
            setup: """
                mkdir a
                mkdir ab
                write ab/f 1
                """,
            script: """
                mv a x
                write ab/f 22
                write x/g 1
                """
        ),
        Scenario(
            name: "17 a mixed tree is removed",
            setup: """
                mkdir -p t/a/b
                mkdir t/c
                write t/f 1
                ln -s f t/l
                mkfifo t/p
                write t/a/b/g 1
                """,
            script: "rm -r t"
        ),
        Scenario(
            name: "18 a file comes, goes and comes in a new directory",
            script: """
                mkdir d
                write d/f 1
                rm d/f
                write d/f 22
                """
        ),
        Scenario(
            name: "19 a file is renamed over another, then appended to",
            setup: """
                write a 1
                write b 22
                """,
            script: """
                mv a b
                append b 333
                """
        ),
        Scenario(
            name: "20 a file from outside is renamed over one",
            setup: """
                write ../outside/f 4444
                write f 1
                """,
            script: "mv ../outside/f f"
        ),
        Scenario(
            name: "21 a cyclic link becomes a file",
            setup: "ln -s link link",
            script: """
                rm link
                write link 1
                """
        ),
        Scenario(
            name: "22 links to nowhere, pipes",
            script: """
                ln -s nowhere l
                mkfifo p
                check
                rm l
                rm p
                ln -s . loop
                """
        ),
        Scenario(
            name: "23 a file becomes unreadable",
            setup: "write f 1",
            script: "chmod 000 f"
        ),
        Scenario(
            name: "26 a child moves out, its parent is removed",
            setup: """
                mkdir -p p/child/deep
                write p/child/f 1
                """,
            script: """
                mv p/child child
                rmdir p
                write child/deep/g 1
                """
        ),
        Scenario(
            name: "26 a child moves outside, its parent is removed",
            setup: "mkdir -p p/child/deep",
            script: """
                mv p/child ../outside/child
                rmdir p
                write ../outside/child/deep/g 1
                """
        ),
        Scenario(
            name: "27 a chain of nine directories",
            script: """
                mkdir -p 1/2/3/4/5/6/7/8/9
                write 1/2/3/4/5/6/7/8/9/f 1
                """
        ),
        Scenario(
            name: "29 created and deleted at once",
            setup: "mkdir d",
            script: """
                write d/f 1
                rm d/f
                mkdir d/e
                rmdir d/e
                """
        ),
        Scenario(
            name: "30 deleted and created at once",
            setup: "write f 1",
            script: """
                rm f
                write f 22
                """
        ),
        Scenario(
            name: "31 a rename that changes only the case",
            setup: """
                mkdir name
                write name/f 1
                """,
            script: """
                mv name NAME
                write NAME/f 22
                mv NAME/f NAME/F
                """
        ),
        Scenario(
            name: "32 a file becomes a directory and a file again",
            setup: "write x 1",
            script: """
                rm x
                mkdir x
                write x/f 1
                check
                rm -r x
                write x 22
                check
                rm x
                mkdir x
                write x/g 1
                """
        ),
        Scenario(
            name: "33 twenty nested chains",
            script: """
                each 20 mkdir -p d%/1/2/3/4/5
                each 20 write d%/1/2/3/4/5/f text
                """
        ),
        Scenario(
            name: "36 a burst of 1,200 files",
            setup: "mkdir d",
            script: "each 1200 write d/f% text"
        ),
        Scenario(
            name: "40 vim saves: rename to a backup, create, delete the backup",
            setup: "write f 1",
            script: """
                mv f f~
                write f 22
                rm f~
                """
        ),
        Scenario(
            name: "41 emacs saves: a dangling lock link comes and goes",
            setup: "write f 1",
            script: """
                ln -s user@host.1234:5678 .#f
                write f 22
                rm .#f
                """
        ),
        Scenario(
            name: "42 truncated and written in place",
            setup: "write f 4444",
            script: """
                truncate f
                write f 1
                """
        ),
        Scenario(
            name: "43 a temporary file is renamed over",
            setup: "write f 1",
            script: """
                write .f.tmp 22
                mv .f.tmp f
                """
        ),
        Scenario(
            name: "hard links, times and permissions",
            setup: """
                write f 1
                mkdir d
                """,
            script: """
                ln f d/g
                chmod 700 d
                touch f
                check
                append d/g 22
                chmod 4755 d/g
                check
                rm f
                touch d
                """
        ),
        Scenario(
            name: "two directories change places, below one another too",
            setup: """
                mkdir -p a/b/c
                mkdir -p x/y/z
                write a/b/c/f 1
                write x/y/z/g 1
                """,
            script: """
                exchange a x
                write a/y/z/g 22
                check
                exchange a/y x/b
                write a/y/c/f 333
                write x/b/z/g 333
                """
        ),
        Scenario(
            name: "a parent is moved below its child",
            setup: """
                mkdir -p a/b
                write a/f 1
                """,
            script: """
                mv a/b b
                mv a b/a
                write b/a/f 22
                check
                mv b/a a
                mv b a/b
                write a/b/g 1
                """
        ),
        Scenario(
            name: "a tree comes from outside and leaves again",
            setup: """
                mkdir -p ../outside/t/u/v
                write ../outside/t/u/v/f 1
                """,
            script: """
                mv ../outside/t t
                write t/u/v/f 22
                check
                mv t ../outside/t
                write ../outside/t/u/v/f 1
                check
                mv ../outside/t t2
                write t2/u/v/f 333
                """
        ),
        Scenario(
            name: "a directory is replaced by one of the same name from outside",
            setup: """
                mkdir -p d/e
                mkdir -p ../outside/d/e
                write ../outside/d/e/f 1
                """,
            script: """
                mv d old
                mv ../outside/d d
                write d/e/f 22
                write old/e/f 1
                """
        ),
        Scenario(
            name: "names of any bytes",
            script: """
                mkdir ümläut
                write ümläut/-*?[ 1
                write .hidden 1
                """
        ),
    ]
}
