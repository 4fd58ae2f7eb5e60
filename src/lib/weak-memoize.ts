// Memoizes by object identity (WeakMap).
export function weakMemoize<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const entries = new WeakMap<Key, { value: Value }>();
  return (key) => {
    const entry = entries.get(key) ?? { value: compute(key) };
    entries.set(key, entry);
    return entry.value;
  };
}
