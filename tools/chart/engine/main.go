// Renders a chart with the libraries of Helm: Go's text/template, sprig, sigs.k8s.io/yaml and gojsonschema, as Debian packages them. It
// supports only the features that our chart uses: no dependencies, .Files, lookup or hooks. Unlike `helm template`, a missing key is an
// error, as in `helm lint --strict`.
//
// It reads {"chart": FOLDER, "values": {}, "release": NAME, "namespace": NAME, "skipSchema": BOOL} from standard input, and writes either
// {"values": {}, "notes": "", "documents": [{"template": FILE, "object": {}}]} or {"error": TEXT}.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/xeipuuv/gojsonschema"
	"sigs.k8s.io/yaml"
)

const includeDepth = 100

type request struct {
	Chart     string         `json:"chart"`
	Values    map[string]any `json:"values"`
	Release   string         `json:"release"`
	Namespace string         `json:"namespace"`
	// As `helm template --skip-schema-validation`.
	SkipSchema bool `json:"skipSchema"`
}

type document struct {
	Template string         `json:"template"`
	Object   map[string]any `json:"object"`
}

type answer struct {
	Values    map[string]any `json:"values,omitempty"`
	Notes     string         `json:"notes,omitempty"`
	Documents []document     `json:"documents,omitempty"`
	Error     string         `json:"error,omitempty"`
}

type metadata struct {
	APIVersion  string `json:"apiVersion"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Type        string `json:"type"`
	Version     string `json:"version"`
	AppVersion  string `json:"appVersion"`
	KubeVersion string `json:"kubeVersion"`
}

func main() {
	var ask request
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	result, err := &answer{}, decoder.Decode(&ask)
	if err == nil {
		result, err = render(ask)
	}
	if err != nil {
		result = &answer{Error: err.Error()}
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(ask request) (*answer, error) {
	var chart metadata
	if err := readYAML(filepath.Join(ask.Chart, "Chart.yaml"), &chart); err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := readYAML(filepath.Join(ask.Chart, "values.yaml"), &values); err != nil {
		return nil, err
	}
	merge(values, ask.Values)
	if !ask.SkipSchema {
		if err := validate(filepath.Join(ask.Chart, "values.schema.json"), values); err != nil {
			return nil, err
		}
	}
	texts, err := execute(ask, chart, values)
	if err != nil {
		return nil, err
	}
	result := &answer{Values: values}
	for _, name := range sortedKeys(texts) {
		if strings.HasSuffix(name, "NOTES.txt") {
			result.Notes = texts[name]
			continue
		}
		objects, err := documents(texts[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, object := range objects {
			result.Documents = append(result.Documents, document{Template: name, Object: object})
		}
	}
	return result, nil
}

func readYAML(file string, into any) error {
	bytes, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(bytes, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// Merges maps and replaces all other values; null removes a default.
func merge(into, from map[string]any) {
	for key, value := range from {
		section, isSection := value.(map[string]any)
		old, wasSection := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isSection && wasSection:
			merge(old, section)
		default:
			into[key] = value
		}
	}
}

func validate(file string, values map[string]any) error {
	schema, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	result, err := gojsonschema.Validate(
		gojsonschema.NewBytesLoader(schema), gojsonschema.NewGoLoader(values))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if result.Valid() {
		return nil
	}
	problems := []string{}
	for _, problem := range result.Errors() {
		problems = append(problems, problem.String())
	}
	return errors.New("values don't meet the schema:\n" + strings.Join(problems, "\n"))
}

func execute(ask request, chart metadata, values map[string]any) (map[string]string, error) {
	folder := filepath.Join(ask.Chart, "templates")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	root := template.New("").Option("missingkey=error")
	root.Funcs(functions(root))
	names := []string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		if _, err := root.New(entry.Name()).Parse(string(text)); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(entry.Name(), "_") {
			names = append(names, entry.Name())
		}
	}
	texts := map[string]string{}
	for _, name := range names {
		var out strings.Builder
		if err := root.ExecuteTemplate(&out, name, map[string]any{
			"Values": values,
			"Chart":  chart,
			"Release": map[string]any{
				"Name": ask.Release, "Namespace": ask.Namespace, "Service": "Helm",
				"IsInstall": true, "IsUpgrade": false, "Revision": 1,
			},
			"Template": map[string]any{"Name": chart.Name + "/templates/" + name, "BasePath": chart.Name + "/templates"},
		}); err != nil {
			return nil, err
		}
		texts[name] = out.String()
	}
	return texts, nil
}

// Like Helm, adds functions to sprig, and removes those that would let a chart read the machine.
func functions(root *template.Template) template.FuncMap {
	added := sprig.TxtFuncMap()
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(added, name)
	}
	added["toYaml"] = func(value any) string {
		bytes, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(bytes), "\n")
	}
	added["toJson"] = func(value any) string {
		bytes, err := json.Marshal(value)
		if err != nil {
			return ""
		}
		return string(bytes)
	}
	depth := 0
	added["include"] = func(name string, data any) (string, error) {
		if depth++; depth > includeDepth {
			return "", fmt.Errorf("include %q: more than %d deep", name, includeDepth)
		}
		defer func() { depth-- }()
		var out strings.Builder
		err := root.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	added["required"] = func(message string, value any) (any, error) {
		if text, isText := value.(string); value == nil || isText && text == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	return added
}

var separator = regexp.MustCompile(`(?m)^---\s*$`)

func documents(text string) ([]map[string]any, error) {
	found := []map[string]any{}
	for _, part := range separator.Split(text, -1) {
		object := map[string]any{}
		if err := yaml.UnmarshalStrict([]byte(part), &object); err != nil {
			return nil, fmt.Errorf("%w in:\n%s", err, part)
		}
		if len(object) > 0 {
			found = append(found, object)
		}
	}
	return found, nil
}

func sortedKeys(texts map[string]string) []string {
	names := []string{}
	for name := range texts {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
