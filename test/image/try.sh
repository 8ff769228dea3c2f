#!/bin/sh
# Builds the image of the Dockerfile by buildah and tries it: svc in the path, one Node, the account
# of the image and --user 4321, each on a read-only root with a volume. Needs root, for chroots:
#
#   sh test/image/try.sh
#
# Without a registry of images, the base images are made from Debian's packages (debootstrap), with
# the Node of this clone and the npm of the system. Where a program is missing it says so, and ends
# with 0.
set -eu
cd "$(dirname "$0")/../.."

skip() {
  echo "skipped: $1"
  exit 0
}
[ "$(id -u)" = 0 ] || skip 'needs root'
command -v buildah >/dev/null || skip 'buildah is not installed'
command -v ip >/dev/null || skip 'ip (iproute2) is not installed'

work=$(mktemp -d "${TMPDIR:-/tmp}/svc-image-XXXXXX")
chmod 755 "$work"
image=localhost/svc-try
# The store of images is a folder of this run, so that nothing of it stays.
export BUILDAH_ISOLATION=chroot
buildah() {
  command buildah --root "$work/images" --runroot "$work/run" "$@"
}
clean() {
  awk -v work="$work/" 'index($2, work) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount -l
  rm -rf --one-file-system "$work"
}
trap clean EXIT

# Tells whether a registry gives the base image of this name.
pulled() {
  buildah pull --quiet "docker.io/library/$1" >/dev/null 2>&1
}
# Keeps a container as the base image of this name.
keep() {
  buildah umount "$1" >/dev/null
  buildah commit --quiet --rm "$1" "docker.io/library/$2" >/dev/null
  echo "made $2 from Debian's packages"
}
if ! pulled debian:bookworm-slim; then
  # The folder of a small Debian may be given.
  system=${SVC_TRY_DEBIAN:-$work/debian}
  if [ ! -d "$system" ]; then
    command -v debootstrap >/dev/null || skip 'no registry of images, and debootstrap is not installed'
    debootstrap --variant=minbase bookworm "$system" >"$work/log"
  fi
  made=$(buildah from scratch)
  place=$(buildah mount "$made")
  tar -C "$system" --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale \
    --exclude=./var/cache --exclude=./var/lib/apt --exclude='./dev/*' -cf - . | tar -C "$place" -xf -
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$made"
  keep "$made" debian:bookworm-slim
fi
if ! pulled node:24-slim; then
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  made=$(buildah from --pull=never docker.io/library/debian:bookworm-slim)
  place=$(buildah mount "$made")
  cp node_modules/node/bin/node "$place/usr/local/bin/node"
  cp -R "$npm" "$place/usr/local/lib/npm"
  printf '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n' >"$place/usr/local/bin/npm"
  chmod 755 "$place/usr/local/bin/npm"
  # Behind a proxy with an authority of its own, npm needs the certificates of this machine.
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    install -m 644 "$NODE_EXTRA_CA_CERTS" "$place/usr/local/certificates.pem"
    buildah config --env NODE_EXTRA_CA_CERTS=/usr/local/certificates.pem "$made"
  fi
  keep "$made" node:24-slim
fi
buildah build --quiet --format docker --pull=never --network host --tag "$image" . >/dev/null
container=$(buildah from --pull=never "$image")
root=$(buildah mount "$container")
account=$(buildah inspect --format '{{.OCIv1.Config.User}}' "$container")
variables=$(buildah inspect --format '{{range .OCIv1.Config.Env}}{{.}} {{end}}' "$container")
echo "image: $(du -sm "$root" | cut -f1) MB, account $account"

fail() {
  echo "failed: $1"
  exit 1
}
nodes=$(find "$root" -xdev -type f -size +50M -name 'node*' | wc -l)
[ "$nodes" = 1 ] || fail "the image has $nodes files of Node"

# Runs the daemon and commands as an account, in a network of their own, on a read-only root with
# /tmp and a new volume.
try() {
  volume=$work/volume-$1
  # A container engine gives a new volume the owner and the mode of the folder in the image.
  install -d -m "$(stat -c %a "$root/data")" "$volume"
  chown --reference="$root/data" "$volume"
  unshare --mount --pid --net --fork --kill-child sh -eu -c '
    root=$1 volume=$2 account=$3 variables=$4
    ip link set lo up
    mount --bind "$root" "$root"
    mount -o remount,ro,bind "$root"
    if touch "$root/opt/svc/x" 2>/dev/null; then echo "the root can be written"; exit 1; fi
    mount -t tmpfs tmpfs "$root/tmp"
    mount --bind "$volume" "$root/data"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot --userspec="$account" "$root" env -i $variables sh -eu -c "
        svc daemon >/tmp/out 2>/tmp/log &
        svc status --wait --timeout 120s >/dev/null || { cat /tmp/log; exit 1; }
        svc messages send --to inbox@sandbox.test --subject Hello --text x --wait >/dev/null
        svc backup /data/copy.db >/dev/null
        svc --version | head -n 1
        kill \$!
        wait \$!
      "
  ' sh "$root" "$volume" "$2" "$variables" || fail "$1"
  uid=$(stat -c %u "$volume/svc/svc.db")
  mode=$(stat -c %a "$volume/svc")
  [ "$mode" = 700 ] || fail "the store of $1 has mode $mode"
  echo "ok: $1 (uid $uid), on a read-only root with a volume"
}
uid=$(grep "^$account:" "$root/etc/passwd" | cut -d: -f3)
try "account-$account" "$uid:$uid"
try user-4321 4321:4321
echo '2 passed, 0 failed'
