/**
 * The console's page: its markup with the addresses of this version's assets, and the policy a
 * browser holds it to.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Assets, icon, script, style } from './assets.ts'

export interface HtmlPage {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

const markup = join(import.meta.dirname, '../../console/web/page.html')
/** The place in the markup for what this file adds. */
const place = '<!-- assets -->'

export function readPage({ version, preloaded }: Assets): HtmlPage {
  // Relative, so that it also works behind a proxy's path prefix.
  const address = (name: string) => `./console/${version}/${name}`
  const head = [
    `<link rel="icon" href="${address(icon)}">`,
    `<link rel="stylesheet" href="${address(style)}">`,
    // All at once: without this a browser learns of a module only when it has read the one that
    // imports it.
    ...preloaded.map((name) => `<link rel="modulepreload" href="${address(name)}">`),
    `<script type="module" src="${address(script)}"></script>`,
  ]
  const html = readFileSync(markup, 'utf8').replace(place, () => head.join('\n    '))
  return { html, headers }
}

/**
 * Our own files alone run, load and are called, nobody may frame the page, and no markup is written from
 * text.
 */
const policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
}

const headers = {
  'content-security-policy': Object.entries(policy)
    .map(([directive, value]) => `${directive} ${value}`)
    .join('; '),
  'cross-origin-opener-policy': 'same-origin',
}
