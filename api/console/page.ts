/** The console's page: its markup with the addresses of this version's assets, and the policy a browser holds it to. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Assets } from './assets.ts'

export interface Page {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

const markup = join(import.meta.dirname, '../../console/web/page.html')
/** Where the markup wants what this file adds. */
const place = '<!-- assets -->'

export function readPage(assets: Assets): Page {
  // Relative, so that it also works behind a proxy's path prefix.
  const address = (name: string) => `./console/${assets.version}/${name}`
  const imports = Object.fromEntries([...assets.modules].map(([from, to]) => [from, address(to)]))
  const map = JSON.stringify({ imports })
  const names = [...assets.files.keys()]
  const head = [
    `<link rel="icon" href="${address('web/icon.svg')}">`,
    ...names
      .filter((name) => name.endsWith('.css'))
      .map((name) => `<link rel="stylesheet" href="${address(name)}">`),
    `<script type="importmap">${map}</script>`,
    // All at once: without this a browser learns of a module only when it has read the one that imports it.
    ...names
      .filter((name) => /\.[jt]s$/.test(name))
      .map((name) => `<link rel="modulepreload" href="${address(name)}">`),
    `<script type="module" src="${address('web/main.ts')}"></script>`,
  ]
  const html = readFileSync(markup, 'utf8').replace(place, () => head.join('\n    '))
  return { html, headers: headersOf(map) }
}

/**
 * Nothing but our own files runs, loads or is called, and nobody may frame the page. The import map has to stand in the
 * page (browsers take no other), so it is named by its hash. Nothing may write markup from text.
 */
function headersOf(importMap: string): Record<string, string> {
  const policy = {
    'default-src': "'none'",
    'script-src': `'self' 'sha256-${hash('sha256', importMap, 'base64')}'`,
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
  }
  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, value]) => `${directive} ${value}`)
      .join('; '),
    'cross-origin-opener-policy': 'same-origin',
  }
}
