#!/usr/bin/env bash
# Installs the units for a radcal that is in PREFIX, with a user, a configuration and a key of its own.
#   install.sh [--prefix /opt/radcal] [--allow ADDRESS]... [--root DIR]
# --allow: a database, object store, model server or mail relay that runs may speak to.
# --root: write below DIR and change nothing of the running system (for images and rehearsals).
# May be repeated: a configuration and a key that are there stay as they are.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=/opt/radcal
root=
allowed=()
while (($#)); do
  case $1 in
    --prefix) prefix=$2; shift 2 ;;
    --allow) allowed+=("$2"); shift 2 ;;
    --root) root=$2; shift 2 ;;
    *) echo "unknown option: $1" >&2; exit 2 ;;
  esac
done
radcal=$prefix/bin/radcal
[[ -x $radcal ]] || {
  echo "$radcal is not there. Install radcal into $prefix first (airgap/install.sh $prefix), or name it: --prefix." >&2
  exit 2
}

own=()
if [[ -z $root ]]; then
  id radcal >/dev/null 2>&1 || useradd --system --home-dir /var/lib/radcal --shell /usr/sbin/nologin radcal
  own=(--owner root --group radcal)
fi
etc=$root/etc/radcal
units=$root/etc/systemd/system
install -d -m 0750 "${own[@]}" "$etc"
install -d -m 0755 "$units" "$prefix/share"
if [[ ! -e $etc/radcal.toml ]]; then
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  "$radcal" init "$made" >/dev/null
  # Only the state folder can be written by a run; the configuration's own folder cannot.
  sed -i 's|^# *workspace = .*|workspace = "/var/lib/radcal/workspace"|; s|^workspace = .*|workspace = "/var/lib/radcal/workspace"|' "$made/radcal.toml"
  install -m 0640 "${own[@]}" "$made/radcal.toml" "$etc/radcal.toml"
  [[ -e $etc/vault.key ]] || install -m 0600 "$made/vault.key" "$etc/vault.key"
fi
[[ -e $etc/nightly.env ]] || echo 'RADCAL_OPTIONS=--no-pages' >"$etc/nightly.env"
[[ $here/../once.sh -ef $prefix/share/once.sh ]] ||
  install -m 0755 "$here/../once.sh" "$prefix/share/once.sh"
for unit in "$here"/*.service "$here"/*.timer; do
  sed "s|/opt/radcal|$prefix|g" "$unit" >"$units/$(basename "$unit")"
done
if ((${#allowed[@]})); then
  install -d "$units/radcal@.service.d"
  { echo "[Service]"; printf 'IPAddressAllow=%s\n' "${allowed[@]}"; } >"$units/radcal@.service.d/network.conf"
fi
if [[ -z $root ]]; then
  systemctl daemon-reload
fi
echo "Next: edit $etc/radcal.toml, keep a copy of $etc/vault.key elsewhere, then"
echo "  systemctl start radcal@nightly && journalctl -u radcal@nightly    # a first run, to see that it can"
echo "  systemctl enable --now radcal-nightly.timer radcal-monthly.timer"
