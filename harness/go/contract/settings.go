package contract

import "time"

// Settings are a client's settings, by the library's names.
type Settings map[string]any

// Has tells whether a setting is given.
func (s Settings) Has(name string) bool { return s[name] != nil }

// Bool returns a setting that is true or false.
func (s Settings) Bool(name string) bool { return get[bool](s, name) }

// Int returns a setting that is a number.
func (s Settings) Int(name string) int { return int(get[float64](s, name)) }

// Duration returns a setting such as "50ms".
func (s Settings) Duration(name string) time.Duration {
	found, err := time.ParseDuration(get[string](s, name))
	if err != nil {
		Die("%s: %v", name, err)
	}
	return found
}

// Only ends the program if there are other settings than these.
func (s Settings) Only(names ...string) {
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for name := range s {
		if !known[name] {
			Die("unknown setting %s", name)
		}
	}
}

func get[T any](s Settings, name string) T {
	found, ok := s[name].(T)
	if !ok {
		Die("setting %s: %v is unexpected", name, s[name])
	}
	return found
}
