/** docs/errors.md as a page of every instance: the links of error answers lead to its codes. */
import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { errorsPath } from '../errors.ts'

const source = new URL('../../docs/errors.md', import.meta.url)

export function addErrorsPage(app: FastifyInstance): void {
  let page: string | null = null
  app.get(errorsPath, async (_request, reply) => {
    page ??= htmlOf(await readFile(source, 'utf8'))
    return reply.headers(headers).send(page)
  })
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
}

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}:target{background:#ff06}'

/** The Markdown that docs/errors.md uses: headings, paragraphs, one block, code, bold, and links. */
function htmlOf(markdown: string): string {
  const body = markdown
    .split(/\n\n|(?<=^#.*)\n/m)
    .map((part) => part.trim())
    .filter(Boolean)
    .map(blockOf)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Errors</title><style>${style}</style>${body.join('\n')}</html>`
}

function blockOf(part: string): string {
  const heading = /^(#{1,3}) (.+)$/.exec(part)
  const level = heading?.[1]?.length
  const text = heading?.[2] ?? ''
  // Only the codes are linked to.
  if (level === 3) return `<h3 id="${text}">${text}</h3>`
  if (level) return `<h${level}>${escaped(text)}</h${level}>`
  const block = /^```\w*\n([\s\S]*)\n```$/.exec(part)
  return block ? `<pre>${escaped(block[1] ?? '')}</pre>` : `<p>${inlineOf(part)}</p>`
}

/** Links to other pages of the folder show their words: an instance serves this page alone. */
const inlineOf = (text: string) =>
  escaped(text)
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<br><b>$1</b>')

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
