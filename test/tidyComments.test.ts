// Goal: comments are true of the code beside them, and begin with their subjects.
// Method: read the sources as text; what comments name is looked for in the code and in the tree.
import { expect, test } from 'vitest'
import { glob, read, sources, withoutComments } from './support/projectFiles.ts'

/** Names of the engines' own that comments explain. */
const foreignNames = new Set([
  'joinGet',
  'dictGet',
  'hostName',
  'evalMLMethod',
  'reinterpretAsString',
  'getTokensTokenHolders',
])

test('comments name files and identifiers that exist, and no paper a stranger lacks', () => {
  const everything = glob('**/*').filter((file) => /\.\w+$/.test(file))
  const code = everything.filter(
    (file) => /\.(ts|mjs|sql|html|css|sol|json)$/.test(file) && file !== 'package-lock.json',
  )
  const words = new Set(code.flatMap((file) => withoutComments(read(file)).match(/[A-Za-z_]\w*/g) ?? []))
  const wrong = sources.flatMap((file) => {
    const comments = commentsOf(read(file))
    const paths = [
      ...comments.matchAll(/(?<![\w./*@`-])((?:[\w.-]+\/)*[\w-]+(?:\.\w+)*\.(?:ts|sql|md|mjs))\b/g),
    ]
    const absent = paths.filter(([, path = '']) => !everything.some((one) => `/${one}`.endsWith(`/${path}`)))
    const unknown = [...comments.matchAll(/`([a-z]+[A-Z]\w*)`/g)].filter(
      ([, name = '']) => !words.has(name) && !foreignNames.has(name),
    )
    const papers = [...comments.matchAll(/\b(spec "[^"]*"|mechanisms \d+|research\/\S+)/g)]
    return [...absent, ...unknown, ...papers].map(([, name]) => `${file}: ${name}`)
  })
  expect(wrong).toEqual([])
})

test('a comment begins with its subject, and ends where code does but for tables', () => {
  // The second line of a comment may begin with any word.
  const begins = /(?<!\/\/.*\n[ \t]*)(?:\/\*\*?\s*(?:\*\s*)?|\/\/[ \t]*)(?:Of|Who|What)(?:ever|se|m)?\b.*/g
  const long = /^\s*(?:\/\/(?! biome-ignore)|\/?\*+ (?!\|)).*$/gm
  const found = glob('**/*.{ts,mjs}').flatMap((file) => {
    const lines = [...read(file).matchAll(long)].filter(([line]) => line.replace(/^\n+/, '').length > 110)
    return [...read(file).matchAll(begins), ...lines].map(([text]) => `${file}: ${text}`)
  })
  expect(found).toEqual([])
})

const commentsOf = (text: string) => text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm)?.join('\n') ?? ''
