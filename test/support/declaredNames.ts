/** Names that files give out, read line by line: the formatter puts each declaration at a line's start. */
export interface Convention {
  /** Files that declare the same names on purpose. */
  readonly files: RegExp
  readonly reason: string
}

/** Names that several files declare on purpose: those of one convention count as one declaration. */
export const conventions: readonly Convention[] = [
  { files: /^console\/web\/\w+\/page\.ts$/, reason: 'each page of the console exports `open`' },
  { files: /^transform\/(activities|events)\//, reason: 'an activity has the name of its event' },
  {
    files: /^query\/(clickhouse|postgres)\//,
    reason: 'the engines have the same steps under the same names',
  },
  {
    files:
      /^(http\/request\/parameter|http\/schema|program\/settings\/kind|webhooks\/filters\/operators)\.ts$/,
    reason: 'each is a vocabulary of kinds of values, read with its room before it',
  },
]

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

/** Exported names that a text declares, each once: a type and a constant may share one. */
export const declaredNames = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(declaration)].map(([, name = '']) => name))

/** The names that two or more files declare, each with those files; a convention's files are its first. */
export function sharedNames(
  files: readonly string[],
  read: (file: string) => string,
): ReadonlyMap<string, readonly string[]> {
  const filesOf = new Map<string, Map<string, string>>()
  for (const file of files) {
    const place = conventions.find((one) => one.files.test(file))?.reason ?? file
    for (const name of declaredNames(read(file))) {
      const places = filesOf.get(name) ?? new Map<string, string>()
      if (!places.has(place)) places.set(place, file)
      filesOf.set(name, places)
    }
  }
  const shared = [...filesOf].filter(([, places]) => places.size > 1)
  return new Map(shared.map(([name, places]) => [name, [...places.values()]]))
}
