{{/* A key as the daemon compares it: white_list, whiteList and White-List are equal. */}}
{{- define "wins.foldedKey" -}}
{{- . | replace "_" "" | replace "-" "" | lower -}}
{{- end -}}

{{- define "wins.foldedPath" -}}
{{- . | replace "/" "\\" | lower -}}
{{- end -}}

{{- define "wins.refuseMasquerade" -}}
{{- if hasKey .values "masquerade" -}}
{{- fail (printf "%s: refused, because it runs the helper under the name of another listed program, which defeats the whitelist. Instead, add the helper once to the whitelist of the running daemon, and pin it with helper.sha256. Its entry: processPaths: [{path: %s, sha256: DIGEST, mayBreakAway: true}]" .name (include "wins.helperPath" .root)) -}}
{{- end -}}
{{- end -}}

{{/* Checks a config beyond its schema. Takes dict: root, name (its location), config. */}}
{{- define "wins.refuseConfig" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- range $key, $_ := .config -}}
{{- $folded := include "wins.foldedKey" $key -}}
{{- if and (eq $folded "whitelist") (ne $key "white_list") -}}
{{- fail (printf "%s.%s: write white_list; another spelling would lose the entry of the helper" $name $key) -}}
{{- end -}}
{{- if eq $folded "listen" -}}
{{- fail (printf "%s.%s: set host.pipe instead; daemon and upgrade share it" $name $key) -}}
{{- end -}}
{{- if or (and (eq $folded "mode") (ne $key "mode")) (and (eq $folded "allowdrop") (ne $key "allowDrop")) -}}
{{- fail (printf "%s.%s: write mode and allowDrop; another spelling would become a key of the daemon's config" $name $key) -}}
{{- end -}}
{{- end -}}
{{- $helper := include "wins.helperPath" $root | include "wins.foldedPath" -}}
{{- range get (get .config "white_list" | default dict) "processPaths" | default list -}}
{{- $path := . -}}
{{- if kindIs "map" . -}}{{- $path = .path -}}{{- end -}}
{{- if eq (include "wins.foldedPath" $path) $helper -}}
{{- fail (printf "%s.white_list.processPaths: %s is the helper; remove it here, because the chart adds its entry (see helper.sha256)" $name $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* "yes" when the values of a config contain a key of the daemon's config. */}}
{{- define "wins.namesKeys" -}}
{{- range $key, $value := omit . "mode" "allowDrop" -}}
{{- if eq $key "white_list" -}}
{{- if or (get ($value | default dict) "processPaths") (get ($value | default dict) "proxyPorts") (get ($value | default dict) "proxyUdpPorts") -}}yes{{- end -}}
{{- else if not (or (kindIs "invalid" $value) (and (kindIs "map" $value) (empty $value))) -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{/* Checks mode and allowDrop of a group. Takes dict: root, name (its location), group. */}}
{{- define "wins.refuseMode" -}}
{{- $values := include "wins.configValues" . | fromJson -}}
{{- $mode := get $values "mode" -}}
{{- if not (has $mode (list "merge" "replace")) -}}
{{- fail (printf "config.mode of %s: found %s; wanted merge (the node keeps keys that are not named) or replace" .name ($mode | toJson)) -}}
{{- end -}}
{{- if eq (include "wins.namesKeys" $values) "" -}}
{{- fail (printf "config of %s: found no key of the daemon's config; wanted at least one, such as config.white_list.proxyPorts. With config.mode merge, a node keeps keys that are not named" .name) -}}
{{- end -}}
{{- if and (eq $mode "merge") (get $values "allowDrop") -}}
{{- fail (printf "config.allowDrop of %s: has no effect with config.mode merge, which drops nothing; remove it, or set config.mode: replace" .name) -}}
{{- end -}}
{{- range get $values "allowDrop" | default list -}}
{{- if not (has . (list "systemagent" "csi-proxy" "white_list" "hostNetwork" "keep" "upgrade.signedBy")) -}}
{{- fail (printf "config.allowDrop of %s: found %s; wanted systemagent, csi-proxy, white_list, hostNetwork, keep or upgrade.signedBy" $.name (. | toJson)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* All checks that stop a release before it touches a cluster. */}}
{{- define "wins.refusals" -}}
{{- $root := . -}}
{{- include "wins.refuseMasquerade" (dict "root" $root "name" "masquerade" "values" .Values) -}}
{{- $_ := required "image.repository: required; docs/packaging.md says how to build the image. There is no default, because its program gets every right on the nodes" .Values.image.repository -}}
{{- $_ := required "helper.sha256: required; use the digest of wins.exe in SHA256SUMS of the release. Without it, anyone who can replace the image controls the nodes" .Values.helper.sha256 -}}
{{- $_ := required "pause.digest: required; use sha256:… of the pause image. A tag is not enough, because it can move to other bytes" .Values.pause.digest -}}
{{- if hasKey .Values.pause "tag" -}}
{{- fail "pause.tag: remove it and set pause.digest, because a tag can move to other bytes" -}}
{{- end -}}
{{- if eq (lower .Values.host.helperFile) (lower .Values.host.configFile) -}}
{{- fail "host.helperFile and host.configFile: found the same name; wanted two names" -}}
{{- end -}}
{{- if has (lower .Values.host.helperFile) (list "wins.exe") -}}
{{- fail "host.helperFile: wins.exe is reserved, because the daemon itself or the file that it watches may have this name; choose another one" -}}
{{- end -}}
{{- include "wins.refuseConfig" (dict "root" $root "name" "config" "config" (get .Values "config" | default dict)) -}}
{{- $names := list -}}
{{- $places := dict -}}
{{- range .Values.nodeGroups -}}
{{- $where := printf "nodeGroups (%s)" .name -}}
{{- include "wins.refuseMasquerade" (dict "root" $root "name" (printf "%s.masquerade" $where) "values" .) -}}
{{- if has .name $names -}}
{{- fail (printf "%s: two groups have this name" $where) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- $place := list (get . "nodeSelector" | default dict) (get . "affinity" | default dict) (get . "tolerations" | default list) | toJson -}}
{{- if hasKey $places $place -}}
{{- fail (printf "%s: chooses the same nodes as %s; a node can be in only one group" $where (get $places $place)) -}}
{{- end -}}
{{- $_ := set $places $place .name -}}
{{- $os := get (get . "nodeSelector" | default dict) "kubernetes.io/os" -}}
{{- if and $os (ne $os "windows") -}}
{{- fail (printf "%s.nodeSelector: kubernetes.io/os is %s; the daemon runs on Windows nodes only" $where $os) -}}
{{- end -}}
{{- include "wins.refuseConfig" (dict "root" $root "name" (printf "%s.config" $where) "config" (get . "config" | default dict)) -}}
{{- include "wins.refuseMode" (dict "root" $root "name" $where "group" .) -}}
{{- end -}}
{{- end -}}
