#!/usr/bin/env bash
# Builds the archives of a release, for people without Go.
set -euo pipefail

usage() {
	cat <<'END'
usage: scripts/release.sh [-o DIR] [--dirty] [--deb] [OS/ARCH...]

Writes dlbench-VERSION-OS-ARCH.tar.gz (windows: .zip) for each target and SHA256SUMS into
DIR (dist): the program, completions for bash, zsh and fish, README, CHANGELOG, and the
licences of dlbench and of what is built into it. Without targets: linux/amd64
linux/arm64 darwin/arm64 darwin/amd64 windows/amd64. With --deb also a Debian package for each
Linux target, by nfpm, which Go fetches and builds. scripts/Dockerfile makes a container image.

The same commit, Go and git give the same bytes. cgo is off: on Linux the program
wants only glibc's loader, through which it opens the CUDA driver and libjpeg-turbo where
they are. The version is that of cmd/dlbench/version.go; the commit is in the program.

A tree with changes is refused, and so is a commit whose tag vX is not the version;
--dirty builds it all the same.
END
}

die() { echo "release: $*" >&2; exit 1; }

# pack ARCHIVE FOLDER TIME: writes .tar.gz or .zip, the same bytes wherever and whenever it is made:
# sorted, every file of one time, without owners.
pack() (
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 TZ=UTC GIT_DIR GIT_WORK_TREE=$2
	GIT_DIR=$(mktemp -d)
	trap 'rm -rf "$GIT_DIR"' EXIT
	git init -q
	git -C "$2" add --force --all .
	commit=$(GIT_AUTHOR_DATE="@$3 +0000" GIT_COMMITTER_DATE="@$3 +0000" git -c user.name=dlbench -c user.email=dlbench@localhost \
		commit-tree -m release "$(git write-tree)")
	git -c tar.umask=022 archive -9 --prefix="$(basename "$2")/" -o "$1" "$commit"
)

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0 # sourced by a test

out=dist dirty='' deb=''
targets=()
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	-o) [ $# -ge 2 ] || die "-o wants a folder"; out=$2; shift 2 ;;
	--dirty) dirty=1; shift ;;
	--deb) deb=1; shift ;;
	*/*) targets+=("$1"); shift ;;
	*) usage >&2; exit 2 ;;
	esac
done
[ ${#targets[@]} -gt 0 ] || targets=(linux/amd64 linux/arm64 darwin/arm64 darwin/amd64 windows/amd64)
command -v go >/dev/null || die "install Go"
command -v git >/dev/null || die "install git"
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."

version=$(sed -n 's/^const release = "\(.*\)"$/\1/p' cmd/dlbench/version.go)
[ -n "$version" ] || die "cmd/dlbench/version.go has no version"
if [ -z "$dirty" ]; then
	changes=$(git status --porcelain) || die "not a git checkout; --dirty builds it all the same"
	[ -z "$changes" ] || die "the tree has changes (--dirty builds it all the same): $(head -n 3 <<<"$changes" | paste -sd ';')"
	for tag in $(git tag --points-at HEAD 'v[0-9]*'); do
		[ "$tag" = "v$version" ] || die "the commit is tagged $tag, but cmd/dlbench/version.go says $version"
	done
	grep -q "^## $version\$" CHANGELOG.md || die "CHANGELOG.md says nothing of $version"
fi
# The time of every file: the commit's.
stamp=$(git log -1 --format=%ct 2>/dev/null) || stamp=315532800

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -mod=readonly -trimpath"
[ -n "$dirty" ] || GOFLAGS+=" -buildvcs=true" # the commit, or an error
unset GOOS GOARCH GOAMD64 GOARM64
go build -o "$work/dlbench" ./cmd/dlbench
mkdir "$work/completions"
"$work/dlbench" completion bash >"$work/completions/dlbench.bash"
"$work/dlbench" completion zsh >"$work/completions/_dlbench"
"$work/dlbench" completion fish >"$work/completions/dlbench.fish"

# licences OS ARCH: those of Go and of the modules in the program.
licences() {
	local name dir
	GOOS=$1 GOARCH=$2 go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/dlbench |
		LC_ALL=C sort -u >"$work/modules"
	echo "The program holds the Go runtime and library and these modules, under these licences."
	while read -r name dir; do
		printf '\n==== %s\n\n' "$name"
		cat "$dir"/LICENSE* 2>/dev/null || cat "$dir"/COPYING* 2>/dev/null || die "$name: no licence in $dir"
	done < <(printf 'go %s\n' "$(go env GOROOT)" && sed '/^$/d' "$work/modules")
}

# debian ARCH FOLDER: a package of what is in the folder.
debian() {
	cat >"$work/nfpm.yaml" <<END
name: dlbench
arch: $1
platform: linux
version: $version
maintainer: The dlbench developers
description: Data-loader throughput benchmarks
license: Apache-2.0
section: utils
priority: optional
mtime: $(date -u -d "@$stamp" +%Y-%m-%dT%H:%M:%SZ)
depends: [libc6]
recommends: [libturbojpeg0, ca-certificates]
contents:
  - {src: $2/dlbench, dst: /usr/bin/dlbench}
  - {src: $2/completions/dlbench.bash, dst: /usr/share/bash-completion/completions/dlbench}
  - {src: $2/completions/_dlbench, dst: /usr/share/zsh/vendor-completions/_dlbench}
  - {src: $2/completions/dlbench.fish, dst: /usr/share/fish/vendor_completions.d/dlbench.fish}
  - {src: $2/LICENSE, dst: /usr/share/doc/dlbench/copyright}
  - {src: $2/THIRD-PARTY-LICENSES, dst: /usr/share/doc/dlbench/THIRD-PARTY-LICENSES}
  - {src: $2/README.md, dst: /usr/share/doc/dlbench/README.md}
  - {src: $2/CHANGELOG.md, dst: /usr/share/doc/dlbench/CHANGELOG.md}
END
	SOURCE_DATE_EPOCH=$stamp GOFLAGS='' go run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.48.0 package \
		--config "$work/nfpm.yaml" --packager deb --target "$out/dlbench_${version}_$1.deb" >&2
}

sum() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

archives=()
for target in "${targets[@]}"; do
	os=${target%/*} arch=${target#*/} end=.tar.gz exe=''
	[ "$os" != windows ] || end=.zip exe=.exe
	name=dlbench-$version-$os-$arch
	mkdir "$work/$name"
	GOOS=$os GOARCH=$arch go build -ldflags "-s -w -buildid=" -o "$work/$name/dlbench$exe" ./cmd/dlbench
	cp -R "$work/completions" LICENSE README.md CHANGELOG.md "$work/$name/"
	licences "$os" "$arch" >"$work/$name/THIRD-PARTY-LICENSES"
	pack "$out/$name$end" "$work/$name" "$stamp"
	archives+=("$name$end")
	echo "release: $out/$name$end" >&2
	if [ -n "$deb" ] && [ "$os" = linux ]; then
		debian "$arch" "$work/$name"
		archives+=("dlbench_${version}_$arch.deb")
	fi
done
(cd "$out" && sum "${archives[@]}" >SHA256SUMS)
cat "$out/SHA256SUMS"
