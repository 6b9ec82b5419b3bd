#!/bin/sh
# Builds the endpoint out of the tree: sh build.sh FOLDER. Maven fetches the SDK, the processor of its
# annotations (KSP) and the compiler, which run by themselves: nothing else needs to be installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
fetch() {
  to=$1
  shift
  mvn -q -B -f "$here/pom.xml" "$@" dependency:copy-dependencies -DincludeScope=runtime "-DoutputDirectory=$out/$to"
}
jars() { find "$out/$1" -name '*.jar' | sort | paste -sd: -; }

fetch lib
fetch ksp -Pksp
fetch compiler -Pcompiler
rm -rf "$out/generated" "$out/classes"
made="$out/generated"
java -cp "$(jars ksp)" com.google.devtools.ksp.cmdline.KSPJvmMain \
  -jvm-target=17 -language-version=2.2 -api-version=2.2 -module-name=check \
  "-source-roots=$here/src" "-libraries=$(jars lib)" "-project-base-dir=$here" "-output-base-dir=$made" \
  "-caches-dir=$made/caches" "-class-output-dir=$made/classes" "-kotlin-output-dir=$made/kotlin" \
  "-java-output-dir=$made/java" "-resource-output-dir=$made/resources" "$(jars ksp)"
plugin=$(find "$out/compiler" -name 'kotlin-serialization-compiler-plugin-*.jar')
java -cp "$(jars compiler)" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -nowarn \
  -jvm-target 17 "-Xplugin=$plugin" -cp "$(jars lib)" -d "$out/classes" "$here/src" "$made/kotlin"
[ -d "$made/resources" ] && cp -r "$made/resources/." "$out/classes"
echo "java -cp '$out/classes:$out/lib/*' check.MainKt PORT"
