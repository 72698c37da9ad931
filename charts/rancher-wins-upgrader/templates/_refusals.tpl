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
{{- include "wins.refuseKeys" (dict "name" $name "values" (omit .config "mode" "allowDrop") "keys" (omit (include "wins.configKeys" $root | fromJson) "listen")) -}}
{{- $helper := include "wins.helperPath" $root | include "wins.foldedPath" -}}
{{- range get (get .config "white_list" | default dict) "processPaths" | default list -}}
{{- $path := . -}}
{{- if kindIs "map" . -}}{{- $path = .path -}}{{- end -}}
{{- if eq (include "wins.foldedPath" $path) $helper -}}
{{- fail (printf "%s.white_list.processPaths: %s is the helper; remove it here, because the chart adds its entry (see helper.sha256)" $name $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Describes a value that has the wrong type, without its content, which may be secret. */}}
{{- define "wins.kind" -}}
{{- get (dict "map" "a section" "slice" "a list" "string" "text" "bool" "true or false" "invalid" "nothing") (kindOf .) | default "a number" -}}
{{- end -}}

{{/* Refuses keys that the daemon's config lacks, and values of another type. Takes dict: name (its location), values, keys (of wins.configKeys). */}}
{{- define "wins.refuseKeys" -}}
{{- $name := .name -}}
{{- $keys := .keys -}}
{{- $types := dict -}}
{{- range $key, $type := $keys -}}
{{- $_ := set $types (include "wins.foldedKey" $key) $type -}}
{{- end -}}
{{- range $key, $value := .values -}}
{{- $place := printf "%s.%s" $name $key -}}
{{- $type := get $types (include "wins.foldedKey" $key) -}}
{{- if not $type -}}
{{- fail (printf "%s: the daemon's config has no such key; its keys here are %s" $place (keys $keys | sortAlpha | join ", ")) -}}
{{- end -}}
{{- $kind := kindOf $value -}}
{{- if or (eq $kind "invalid") (eq ($type | toString) "any") -}}
{{- else if kindIs "map" $type -}}
{{- if ne $kind "map" -}}
{{- fail (printf "%s: found %s; wanted a section (key: value pairs)" $place (include "wins.kind" $value)) -}}
{{- end -}}
{{- include "wins.refuseKeys" (dict "name" $place "values" $value "keys" $type) -}}
{{- else if eq $type "pairs" -}}
{{- if ne $kind "map" -}}
{{- fail (printf "%s: found %s; wanted a section (name: value pairs)" $place (include "wins.kind" $value)) -}}
{{- end -}}
{{- else if eq $type "list" -}}
{{- if ne $kind "slice" -}}
{{- fail (printf "%s: found %s; wanted a list" $place (include "wins.kind" $value)) -}}
{{- end -}}
{{- else if has $kind (list "map" "slice") -}}
{{- fail (printf "%s: found %s; wanted one value" $place (include "wins.kind" $value)) -}}
{{- else if and (eq $type "flag") (ne $kind "bool") -}}
{{- fail (printf "%s: found %s; wanted true or false, without quotes" $place ($value | toJson)) -}}
{{- else if and (eq $type "number") (not (or (has $kind (list "float64" "int64" "int")) (regexMatch `^[1-9][0-9]*$` ($value | toString)))) -}}
{{- fail (printf "%s: found %s; wanted a number" $place ($value | toJson)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Checks labels or annotations, which Kubernetes would refuse only after it has changed other objects. Takes dict: name (their location), values, own
(keys that the chart sets itself), areLabels. */}}
{{- define "wins.refuseMetadata" -}}
{{- $name := .name -}}
{{- $own := .own -}}
{{- $areLabels := .areLabels -}}
{{- range $key, $value := .values -}}
{{- if not (regexMatch `^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$` $key) -}}
{{- fail (printf "%s: found the key %s; wanted at most 63 letters, digits, \"-\", \"_\" and \".\", after a domain and \"/\" if needed" $name ($key | toJson)) -}}
{{- end -}}
{{- if has $key $own -}}
{{- fail (printf "%s: remove %s, because the chart sets it" $name $key) -}}
{{- end -}}
{{- if not (kindIs "string" $value) -}}
{{- fail (printf "%s: found %s as the value of %s; wanted text, so write it in quotes" $name ($value | toJson) $key) -}}
{{- end -}}
{{- if and $areLabels (not (regexMatch `^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$` $value)) -}}
{{- fail (printf "%s: found %s as the value of %s; wanted at most 63 letters, digits, \"-\", \"_\" and \".\", with a letter or digit at both ends" $name ($value | toJson) $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Checks labels and annotations of the values. */}}
{{- define "wins.refuseAllMetadata" -}}
{{- $ofPods := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" -}}
{{- $ofAll := concat $ofPods (list "app.kubernetes.io/version" "app.kubernetes.io/managed-by" "helm.sh/chart") -}}
{{- include "wins.refuseMetadata" (dict "name" "podLabels" "values" (get .Values "podLabels" | default dict) "own" $ofPods "areLabels" true) -}}
{{- include "wins.refuseMetadata" (dict "name" "commonLabels" "values" (get .Values "commonLabels" | default dict) "own" $ofAll "areLabels" true) -}}
{{- $annotations := list "checksum/config" "kubectl.kubernetes.io/default-container" -}}
{{- include "wins.refuseMetadata" (dict "name" "podAnnotations" "values" (get .Values "podAnnotations" | default dict) "own" $annotations "areLabels" false) -}}
{{- $ofAccount := get .Values.serviceAccount "annotations" | default dict -}}
{{- include "wins.refuseMetadata" (dict "name" "serviceAccount.annotations" "values" $ofAccount "own" list "areLabels" false) -}}
{{- if and $ofAccount (not .Values.serviceAccount.create) -}}
{{- fail "serviceAccount.annotations: has no effect with serviceAccount.create: false; annotate the existing account, and remove it here" -}}
{{- end -}}
{{- end -}}

{{/* Checks the names that the values give to objects. */}}
{{- define "wins.refuseNames" -}}
{{- range $name, $limit := dict "nameOverride" 63 "fullnameOverride" 42 -}}
{{- $value := get $.Values $name -}}
{{- if and $value (or (not (regexMatch `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$` $value)) (gt (len $value) $limit)) -}}
{{- fail (printf "%s: found %s; wanted at most %d lowercase letters, digits and \"-\", with a letter or digit at both ends" $name ($value | toJson) $limit) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := dict "priorityClassName" .Values.priorityClassName "serviceAccount.name" .Values.serviceAccount.name -}}
{{- if and $value (not (regexMatch `^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$` $value)) -}}
{{- fail (printf "%s: found %s; wanted at most 253 lowercase letters, digits, \"-\" and \".\", with a letter or digit at both ends" $name ($value | toJson)) -}}
{{- end -}}
{{- end -}}
{{- range get .Values "imagePullSecrets" | default list -}}
{{- $name := . -}}
{{- if kindIs "map" . -}}{{- $name = get . "name" -}}{{- end -}}
{{- if not (and (kindIs "string" $name) (regexMatch `^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$` ($name | toString))) -}}
{{- fail (printf "imagePullSecrets: found %s; wanted names of Secrets, such as regcred, or {name: regcred}" (. | toJson)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Checks the variables of extraEnv. */}}
{{- define "wins.refuseEnv" -}}
{{- range get .Values "extraEnv" | default list -}}
{{- $name := get . "name" -}}
{{- if not (and (kindIs "string" $name) (regexMatch `^[-._a-zA-Z][-._a-zA-Z0-9]*$` ($name | toString))) -}}
{{- fail (printf "extraEnv: found the name %s; wanted letters, digits, \"-\", \"_\" and \".\", without a digit at the start" ($name | toJson)) -}}
{{- end -}}
{{- if eq (lower $name) "pod_uid" -}}
{{- fail (printf "extraEnv: remove %s, because the chart sets it" $name) -}}
{{- end -}}
{{- if and (hasKey . "value") (hasKey . "valueFrom") -}}
{{- fail (printf "extraEnv: found both value and valueFrom of %s; wanted one of them" $name) -}}
{{- end -}}
{{- if and (hasKey . "value") (not (kindIs "string" .value)) -}}
{{- fail (printf "extraEnv: found %s as the value of %s; wanted text, so write it in quotes" (include "wins.kind" .value) $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Checks the names of an image. Takes dict: name (its location), image, registry (which precedes its repository), pinned (a tag is not allowed). */}}
{{- define "wins.refuseImage" -}}
{{- $repository := .image.repository -}}
{{- $valid := `^(([a-z0-9][a-z0-9._-]*|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?/)?[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$` -}}
{{- if not (regexMatch $valid $repository) -}}
{{- $digest := regexFind `@sha256:[0-9a-f]+$` $repository -}}
{{- $tag := regexFind `:[A-Za-z0-9_][A-Za-z0-9_.-]*$` (trimSuffix $digest $repository) -}}
{{- if not (regexMatch $valid (trimSuffix $digest $repository | trimSuffix $tag)) -}}
{{- fail (printf "%s.repository: found %s; wanted a name such as registry.example:5000/rancher/wins-client" .name ($repository | toJson)) -}}
{{- end -}}
{{- if $digest -}}
{{- fail (printf "%s.repository: found the digest %s in it; set %s.digest, and remove it here" .name (trimPrefix "@" $digest) .name) -}}
{{- end -}}
{{- if .pinned -}}
{{- fail (printf "%s.repository: found the tag %s in it; remove it and set %s.digest, because a tag can move to other bytes" .name (trimPrefix ":" $tag) .name) -}}
{{- end -}}
{{- fail (printf "%s.repository: found the tag %s in it; set %s.tag: %s, and remove it here" .name (trimPrefix ":" $tag) .name (trimPrefix ":" $tag)) -}}
{{- end -}}
{{- $tag := get .image "tag" | default "" -}}
{{- if not (regexMatch `^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$` $tag) -}}
{{- fail (printf "%s.tag: found %s; wanted at most 128 letters, digits, \"_\", \".\" and \"-\", such as v1.0.0" .name ($tag | toJson)) -}}
{{- end -}}
{{- $digest := get .image "digest" | default "" -}}
{{- if not (regexMatch `^(sha256:[0-9a-f]{64})?$` $digest) -}}
{{- fail (printf "%s.digest: found %s; wanted sha256: and 64 lowercase hexadecimal digits" .name ($digest | toJson)) -}}
{{- end -}}
{{- if and .registry (regexMatch `^[^/]*[:\[]` $repository) -}}
{{- fail (printf "%s.repository: found the registry %s in it; remove it here, because the registry is %s" .name (regexFind `^[^/]*` $repository) .registry) -}}
{{- end -}}
{{- end -}}

{{/* Checks registries and repositories of both images. */}}
{{- define "wins.refuseImages" -}}
{{- $global := .Values.global.cattle.systemDefaultRegistry -}}
{{- range $name, $registry := dict "global.cattle.systemDefaultRegistry" $global "image.registry" .Values.image.registry "pause.registry" .Values.pause.registry -}}
{{- if not (regexMatch `^(([a-zA-Z0-9][-a-zA-Z0-9._]*|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?(/[a-z0-9._-]+)*/?)?$` $registry) -}}
{{- fail (printf "%s: found %s; wanted a host without https://, such as registry.example:5000, [fd00::5]:5000 or registry.example/mirror" $name ($registry | toJson)) -}}
{{- end -}}
{{- end -}}
{{- include "wins.refuseImage" (dict "name" "image" "image" .Values.image "registry" ($global | default .Values.image.registry) "pinned" false) -}}
{{- include "wins.refuseImage" (dict "name" "pause" "image" .Values.pause "registry" ($global | default .Values.pause.registry) "pinned" true) -}}
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
{{- if not (regexMatch `^[0-9a-f]{64}$` (include "wins.helperSha256" $root)) -}}
{{- fail (printf "helper.sha256: found %s; wanted the 64 hexadecimal digits of wins.exe in SHA256SUMS, with or without sha256: before them" (.Values.helper.sha256 | toJson)) -}}
{{- end -}}
{{- $_ := required "pause.digest: required; use sha256:… of the pause image. A tag is not enough, because it can move to other bytes" .Values.pause.digest -}}
{{- if hasKey .Values.pause "tag" -}}
{{- fail "pause.tag: remove it and set pause.digest, because a tag can move to other bytes" -}}
{{- end -}}
{{- include "wins.refuseImages" . -}}
{{- include "wins.refuseNames" . -}}
{{- include "wins.refuseAllMetadata" . -}}
{{- include "wins.refuseEnv" . -}}
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
{{- $place := include "wins.placement" (dict "root" $root "group" .) -}}
{{- if hasKey $places $place -}}
{{- fail (printf "%s: chooses the same nodes as %s; a node can be in only one group" $where (get $places $place)) -}}
{{- end -}}
{{- $_ := set $places $place .name -}}
{{- $os := get (fromJson $place).nodeSelector "kubernetes.io/os" -}}
{{- if and $os (ne $os "windows") -}}
{{- fail (printf "nodeSelector of %s: kubernetes.io/os is %s; the daemon runs on Windows nodes only" $where $os) -}}
{{- end -}}
{{- include "wins.refuseConfig" (dict "root" $root "name" (printf "%s.config" $where) "config" (get . "config" | default dict)) -}}
{{- include "wins.refuseMode" (dict "root" $root "name" $where "group" .) -}}
{{- end -}}
{{- end -}}
