{{/* A key as the daemon compares it: white_list, whiteList and White-List are equal. */}}
{{- define "wins.foldedKey" -}}
{{- . | replace "_" "" | replace "-" "" | lower -}}
{{- end -}}

{{- define "wins.foldedPath" -}}
{{- . | replace "/" "\\" | lower -}}
{{- end -}}

{{- define "wins.refuseMasquerade" -}}
{{- if hasKey .values "masquerade" -}}
{{- fail (printf "%s: refused. It runs the helper under the name of a program that is on the whitelist for another purpose, so that the whitelist says nothing any more. The safe way: let the whitelist of the daemon that runs now name the helper, once, and pin it by its digest (helper.sha256). Its entry: processPaths: [{path: %s, sha256: DIGEST, mayBreakAway: true}]" .name (include "wins.helperPath" .root)) -}}
{{- end -}}
{{- end -}}

{{/* Checks a config beyond its schema. Takes dict: root, name (its location), config. */}}
{{- define "wins.refuseConfig" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- range $key, $_ := .config -}}
{{- $folded := include "wins.foldedKey" $key -}}
{{- if and (eq $folded "whitelist") (ne $key "white_list") -}}
{{- fail (printf "%s.%s: write white_list; with another spelling the entry of the helper would be lost" $name $key) -}}
{{- end -}}
{{- if eq $folded "listen" -}}
{{- fail (printf "%s.%s: the pipe is host.pipe, for the daemon and for the upgrade alike" $name $key) -}}
{{- end -}}
{{- if or (and (eq $folded "mode") (ne $key "mode")) (and (eq $folded "allowdrop") (ne $key "allowDrop")) -}}
{{- fail (printf "%s.%s: write mode and allowDrop; with another spelling it would be taken for a key of the daemon" $name $key) -}}
{{- end -}}
{{- end -}}
{{- $helper := include "wins.helperPath" $root | include "wins.foldedPath" -}}
{{- range get (get .config "white_list" | default dict) "processPaths" | default list -}}
{{- $path := . -}}
{{- if kindIs "map" . -}}{{- $path = .path -}}{{- end -}}
{{- if eq (include "wins.foldedPath" $path) $helper -}}
{{- fail (printf "%s.white_list.processPaths: %s is the helper, whose entry is added; pin it with helper.sha256" $name $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* "yes" when a config names a key of the daemon's config. Takes the values of a config. */}}
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
{{- fail (printf "config.mode of %s: found %s; wanted merge (the node keeps what is not named) or replace" .name ($mode | toJson)) -}}
{{- end -}}
{{- if eq (include "wins.namesKeys" $values) "" -}}
{{- fail (printf "config of %s: found no key of the daemon's config; wanted one at least, such as config.white_list.proxyPorts. With config.mode merge a node keeps what is not named" .name) -}}
{{- end -}}
{{- if and (eq $mode "merge") (get $values "allowDrop") -}}
{{- fail (printf "config.allowDrop of %s: found it with config.mode merge, which drops nothing; wanted config.mode replace with it" .name) -}}
{{- end -}}
{{- range get $values "allowDrop" | default list -}}
{{- if not (has . (list "systemagent" "csi-proxy" "white_list" "hostNetwork" "keep")) -}}
{{- fail (printf "config.allowDrop of %s: found %s; wanted systemagent, csi-proxy, white_list, hostNetwork or keep" $.name (. | toJson)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* All checks that stop a release before it touches a cluster. */}}
{{- define "wins.refusals" -}}
{{- $root := . -}}
{{- include "wins.refuseMasquerade" (dict "root" $root "name" "masquerade" "values" .Values) -}}
{{- $_ := required "image.repository: which image? docs/packaging.md says how to build it; there is none by default, for what it has in it gets every right on the nodes" .Values.image.repository -}}
{{- $_ := required "helper.sha256: which bytes may be the helper? The sum of wins.exe in SHA256SUMS of the release; without it whoever has the name of the image has the nodes" .Values.helper.sha256 -}}
{{- $_ := required "pause.digest: which image does the pod wait in? sha256:… of the pause image; a tag can be moved to other bytes" .Values.pause.digest -}}
{{- if hasKey .Values.pause "tag" -}}
{{- fail "pause.tag: a tag can be moved to other bytes; give the image by pause.digest alone" -}}
{{- end -}}
{{- if eq (lower .Values.host.helperFile) (lower .Values.host.configFile) -}}
{{- fail "host.helperFile and host.configFile: two files cannot have one name" -}}
{{- end -}}
{{- if has (lower .Values.host.helperFile) (list "wins.exe") -}}
{{- fail "host.helperFile: wins.exe is the daemon itself there, or what an old one watches; the helper is another file" -}}
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
{{- fail (printf "%s: chooses the same nodes as %s; a node can be in one group only" $where (get $places $place)) -}}
{{- end -}}
{{- $_ := set $places $place .name -}}
{{- $os := get (get . "nodeSelector" | default dict) "kubernetes.io/os" -}}
{{- if and $os (ne $os "windows") -}}
{{- fail (printf "%s.nodeSelector: kubernetes.io/os is %s; there is a daemon on Windows nodes only" $where $os) -}}
{{- end -}}
{{- include "wins.refuseConfig" (dict "root" $root "name" (printf "%s.config" $where) "config" (get . "config" | default dict)) -}}
{{- include "wins.refuseMode" (dict "root" $root "name" $where "group" .) -}}
{{- end -}}
{{- end -}}
