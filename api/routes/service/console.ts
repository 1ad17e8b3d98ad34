/**
 * GET / and the files it loads: the console in which analysts write SQL and operators see how the
 * program does.
 */

import { ApiError } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import { openToAll } from '#http/request/access.ts'
import * as p from '#http/request/parameter.ts'
import { type Assets, buildAssets, readIcon } from '../../console/assets.ts'
import { type HtmlPage, readPage } from '../../console/page.ts'

interface Console {
  readonly assets: Assets
  readonly page: HtmlPage
}

let loading: Promise<Console> | undefined

/**
 * Built at the first request, once for all that wait. A build that failed is tried again by the
 * next request.
 */
function loadConsole(): Promise<Console> {
  loading ??= buildConsole().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

async function buildConsole(): Promise<Console> {
  const assets = await buildAssets()
  return { assets, page: readPage(assets) }
}

export const readConsoleEndpoint = rawEndpoint({
  path: '/',
  summary: 'The console: SQL in the browser, and the state of the program.',
  tag: 'Console',
  access: openToAll,
  produces: { 'text/html': null },
  answer: async (_call, _services: unknown) => {
    const { html, headers } = (await loadConsole()).page
    return { kind: 'bytes', contentType: 'text/html; charset=utf-8', body: html, cache: 'page', headers }
  },
})

/** Browsers ask for it on pages that name no icon, such as the reference. */
export const readIconEndpoint = rawEndpoint({
  path: '/favicon.ico',
  summary: 'The icon of all pages.',
  tag: 'Console',
  access: openToAll,
  produces: { 'image/svg+xml': null },
  answer: (_call, _services: unknown) => {
    const { contentType, body } = readIcon()
    return { kind: 'bytes', contentType, body, cache: 'asset' }
  },
})

const name = p.text(64, /^[A-Za-z0-9.-]+$/)

export const readConsoleAssetEndpoint = rawEndpoint({
  path: '/console/{version}/{file}',
  summary: 'A file of the console.',
  description: 'The page names them; a version that is no longer served is not found.',
  tag: 'Console',
  access: openToAll,
  errors: ['not_found'],
  params: {
    version: p.described(name, 'Version of the console.'),
    file: p.described(name, 'Name of the file.'),
  },
  produces: { 'text/javascript': null, 'text/css': null, 'image/svg+xml': null },
  answer: async ({ path }, _services: unknown) => {
    const { assets } = await loadConsole()
    const asset = assets.files.get(path.file)
    if (path.version !== assets.version || !asset) throw new ApiError('not_found')
    return { kind: 'bytes', contentType: asset.contentType, body: asset.body, cache: 'versioned' }
  },
})
