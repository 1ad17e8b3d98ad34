/**
 * Changing one place of a node's answer, named as errors name it: `transactions[3].calls[0].to`.
 */

/** The value at a path. */
export function readAt(root: unknown, path: string): unknown {
  return steps(path).reduce((value, step) => entry(value, step), root)
}

/** A copy of an answer with the value at a path replaced; `undefined` removes the field. */
export function withAt<Root>(root: Root, path: string, value: unknown): Root {
  const copy = structuredClone(root)
  const last = path.search(/(\.?[^.[]+|\[\d+\])$/)
  const holder = readAt(copy, path.slice(0, last))
  if (typeof holder !== 'object' || holder === null) throw new Error(`nothing holds ${path}`)
  const [step] = steps(path.slice(last))
  if (step === undefined) throw new Error(`no field in ${path}`)
  if (value === undefined) Reflect.deleteProperty(holder, step)
  else Reflect.set(holder, step, value)
  return copy
}

/**
 * A copy with the last hex digit of the text at a path changed: another byte, or another number.
 */
export function withFlipped<Root>(root: Root, path: string): Root {
  const text = readAt(root, path)
  if (typeof text !== 'string') throw new Error(`no text at ${path}`)
  const digit = Number.parseInt(text.slice(-1), 16) ^ 1
  return withAt(root, path, text.slice(0, -1) + digit.toString(16))
}

function steps(path: string): readonly string[] {
  return path.split(/[.[\]]+/).filter(Boolean)
}

function entry(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null) throw new Error(`nothing at ${step}`)
  return Reflect.get(value, step)
}
