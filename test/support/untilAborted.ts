/** Loops that only an abort ends: by their condition, or by a pause that throws within `for (;;)`. */
export function loopsUntilAborted(text: string): number {
  const endless = [...text.matchAll(endlessLoop)].filter(([, , body = '']) => !mayEnd.test(body))
  return [...text.matchAll(onCondition), ...endless].length
}

/** `while (!x.aborted)`, `for (…; !x.aborted; …)` and `do … while (… !x.aborted)`. */
const onCondition =
  /\b(?:while \(|for \([^;\n]*; )![\w.#?]*\baborted(?:\)|;)|^ *\} while \(.*!.*\baborted\)/gm
const endlessLoop = /^( *)(?:for \(;;\)|while \(true\)) \{\n((?:\1 .*\n|\n)*)\1\}/gm
const mayEnd = /\b(?:return|break|throw|yield|throwIfAborted)\b/
