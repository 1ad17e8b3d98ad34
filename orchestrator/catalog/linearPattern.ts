/**
 * Patterns of strangers, run in time that grows no faster than their size times the text's: by
 * RE2's engine, never by the one of JavaScript, which goes back.
 */
import { RE2JS, RE2JSException } from 're2js'

/** Longer ones describe no input of a call. */
const CHARACTERS_MAX = 200
/** Steps of a compiled pattern, all of which each character may take: `^.{1,200}$` has 400. */
const PROGRAM_STEPS_MAX = 500

export interface LinearPattern {
  /** Steps that one character of a text may take. */
  readonly stepsPerCharacter: number
  readonly test: (text: string) => boolean
}

/** Null for a pattern that the engine cannot read as JSON Schema means it, or that is too large. */
export function linearPattern(pattern: string): LinearPattern | null {
  if (pattern.length > CHARACTERS_MAX || namesSurrogate.test(pattern)) return null
  try {
    // A pattern that JavaScript does not read is none of JSON Schema, though RE2 may know it.
    new RegExp(pattern, 'u')
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    const stepsPerCharacter = compiled.programSize()
    if (stepsPerCharacter > PROGRAM_STEPS_MAX) return null
    const asksForBlanks = /\\s/i.test(pattern)
    return {
      stepsPerCharacter,
      test: (text) => (asksForBlanks && blanksOfJavaScript.test(text)) || compiled.test(text),
    }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RE2JSException) return null
    throw error
  }
}

/** Half a character, which the engine takes for a whole one. */
const namesSurrogate = /\\u\{?0*d[89a-f]/i
/** Blanks that `\s` means in JavaScript and not in RE2: texts that have one are not checked. */
const blanksOfJavaScript = /(?! )[\v\u{feff}\p{Z}]/u
