{{/* "yes" unless the value enabled is false. */}}
{{- define "wins.enabled" -}}
{{- if ne (get .Values "enabled" | toJson) "false" -}}yes{{- end -}}
{{- end -}}

{{- define "wins.name" -}}
{{- get .Values "nameOverride" | default .Chart.Name -}}
{{- end -}}

{{/* Prefix of the names of all objects: at most 42 characters, so that a group's name fits behind it. */}}
{{- define "wins.fullname" -}}
{{- $chart := include "wins.name" . -}}
{{- $name := get .Values "fullnameOverride" | default .Release.Name -}}
{{- if not (or (get .Values "fullnameOverride") (contains $chart $name)) -}}
{{- $name = printf "%s-%s" $name $chart -}}
{{- end -}}
{{- if gt (len $name) 42 -}}
{{- $name = printf "%s-%s" (trunc 33 $name | trimSuffix "-") (sha256sum $name | trunc 8) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* Name of the objects of a group. Takes dict: root, group. */}}
{{- define "wins.groupName" -}}
{{- printf "%s-%s" (include "wins.fullname" .root) .group.name -}}
{{- end -}}

{{/* Labels that select the pods of a group; only nameOverride changes them. Takes dict: root, group. */}}
{{- define "wins.selectorLabels" -}}
app.kubernetes.io/name: {{ include "wins.name" .root | toYaml }}
app.kubernetes.io/instance: {{ .root.Release.Name | toJson }}
app.kubernetes.io/component: {{ .group.name | toJson }}
{{- end -}}

{{/* Labels of all objects. */}}
{{- define "wins.labels" -}}
app.kubernetes.io/name: {{ include "wins.name" . | toYaml }}
app.kubernetes.io/instance: {{ .Release.Name | toJson }}
app.kubernetes.io/version: {{ .Chart.AppVersion | toJson }}
app.kubernetes.io/managed-by: {{ .Release.Service | toJson }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | toJson }}
{{- with get .Values "commonLabels" }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "wins.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "wins.fullname" .) -}}
{{- else -}}
{{- required "serviceAccount.name: required, because serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Takes dict: root, image, tag (the default). */}}
{{- define "wins.image" -}}
{{- $registry := .root.Values.global.cattle.systemDefaultRegistry | default .image.registry | trimSuffix "/" -}}
{{- $name := .image.repository -}}
{{- if $registry -}}{{- $name = printf "%s/%s" $registry $name -}}{{- end -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $name .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (.image.tag | default .tag) -}}
{{- end -}}
{{- end -}}

{{- define "wins.helperSha256" -}}
{{- lower .Values.helper.sha256 | trimPrefix "sha256:" -}}
{{- end -}}

{{/* Where the pods of a group may run, as JSON: nodeSelector, affinity and tolerations. Takes dict: root, group. */}}
{{- define "wins.placement" -}}
{{- $selector := mergeOverwrite (deepCopy (get .root.Values "nodeSelector" | default dict)) (deepCopy (get .group "nodeSelector" | default dict)) -}}
{{- $tolerations := get .root.Values "tolerations" | default list -}}
{{- if hasKey .group "tolerations" -}}
{{- $tolerations = .group.tolerations | default list -}}
{{- end -}}
{{- dict "nodeSelector" $selector "affinity" (get .group "affinity" | default dict) "tolerations" $tolerations | toJson -}}
{{- end -}}

{{/* Folder on the host and in the pod. Both paths are equal, because client and daemon must name a program by one path. */}}
{{- define "wins.folder" -}}
{{- $prefix := .Values.global.cattle.rkeWindowsPathPrefix | default .Values.host.prefixPath -}}
{{- printf "%s\\etc\\rancher\\wins" ($prefix | replace "/" "\\" | trimSuffix "\\") -}}
{{- end -}}

{{- define "wins.helperPath" -}}
{{- printf "%s\\%s" (include "wins.folder" .) .Values.host.helperFile -}}
{{- end -}}

{{- define "wins.configPath" -}}
{{- printf "%s\\%s" (include "wins.folder" .) .Values.host.configFile -}}
{{- end -}}

{{- define "wins.pipePath" -}}
{{- printf "\\\\.\\pipe\\%s" .Values.host.pipe -}}
{{- end -}}

{{/* Escapes one argument: Kubernetes replaces $(NAME), and reads $$ as one $. */}}
{{- define "wins.word" -}}
{{- . | replace "$" "$$" | toJson -}}
{{- end -}}

{{/* The values of a group's config as JSON, including mode and allowDrop. Takes dict: root, group. */}}
{{- define "wins.configValues" -}}
{{- mergeOverwrite (dict "mode" "merge") (deepCopy (get .root.Values "config" | default dict)) (deepCopy (get .group "config" | default dict)) | toJson -}}
{{- end -}}

{{/* The config file of a group as JSON, which is YAML without ambiguity. Takes dict: root, group. */}}
{{- define "wins.config" -}}
{{- $root := .root -}}
{{- $config := omit (include "wins.configValues" . | fromJson) "mode" "allowDrop" -}}
{{- $whiteList := get $config "white_list" | default dict -}}
{{- $helper := dict "path" (include "wins.helperPath" $root) "sha256" (include "wins.helperSha256" $root) "mayBreakAway" true -}}
{{- $whiteList = set $whiteList "processPaths" (prepend (get $whiteList "processPaths" | default list) $helper) -}}
{{- set (set $config "white_list" $whiteList) "listen" $root.Values.host.pipe | toPrettyJson -}}
{{- end -}}
