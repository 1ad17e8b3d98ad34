/** The formats of results, and which one a request means. */
import { wishesOf } from '#http/request/accept.ts'
import type { FormatName, ResultFormat } from './format.ts'
import { csvEncoder, jsonEncoder, ndjsonEncoder } from './textEncoders.ts'

export const formats: Readonly<Record<FormatName, ResultFormat>> = {
  json: {
    name: 'json',
    contentType: 'application/json; charset=utf-8',
    mediaTypes: ['application/json'],
    load: async () => jsonEncoder,
  },
  ndjson: {
    name: 'ndjson',
    contentType: 'application/x-ndjson; charset=utf-8',
    mediaTypes: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
    load: async () => ndjsonEncoder,
  },
  csv: {
    name: 'csv',
    contentType: 'text/csv; charset=utf-8; header=present',
    mediaTypes: ['text/csv'],
    load: async () => csvEncoder,
  },
  arrow: {
    name: 'arrow',
    contentType: 'application/vnd.apache.arrow.stream',
    mediaTypes: ['application/vnd.apache.arrow.stream'],
    load: async () => (await import('./arrowEncoder.ts')).arrowEncoder,
  },
  parquet: {
    name: 'parquet',
    contentType: 'application/vnd.apache.parquet',
    mediaTypes: ['application/vnd.apache.parquet'],
    load: async () => (await import('./parquetEncoder.ts')).parquetEncoder,
  },
}

/**
 * The format an Accept header likes best (RFC 9110, 12.5.1); JSON when it names none of ours, since
 * a client that sends nothing but any type or a browser's list expects what the contract describes.
 */
export function acceptedFormat(accept: string | undefined): FormatName {
  const best = wishesOf(accept)
    .filter(({ quality }) => quality > 0)
    .sort((one, two) => two.quality - one.quality)
  for (const { mediaType } of best) {
    const format = Object.values(formats).find(({ mediaTypes }) => mediaTypes.includes(mediaType))
    if (format) return format.name
  }
  return 'json'
}
