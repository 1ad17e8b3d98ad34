/**
 * A `string` of a log or call as readers get it, the same in SQL, webhooks and activities. Solidity
 * lets any bytes stand there, but no text of Postgres has a NUL, and bytes that are not UTF-8 are no
 * text anywhere. So such bytes are spelled out: their leading ASCII characters, then U+FFFD, `0x`
 * and the hex of all the rest. The very few texts that look so get a second U+FFFD. Thus everything
 * else stays as it is, and no two different strings read the same.
 */
import { isUtf8 } from 'node:buffer'

/** Stands in front of the hex. The rule in SQL: `abi_string` of Postgres, `toldText` of ClickHouse. */
export const REPLACED = '\ufffd'
export const MARK = `${REPLACED}0x`

export function textOfBytes(bytes: Buffer): string {
  if (!isUtf8(bytes) || bytes.includes(0)) return spelledOut(bytes)
  const text = bytes.toString('utf8')
  return text.includes(MARK) ? text.replace(looksSpelled, `$1${REPLACED}$2$3`) : text
}

/** The bytes that `textOfBytes` made this text from. */
export function bytesOfText(text: string): Buffer {
  const [, ascii, marks, rest = ''] = looksSpelled.exec(text) ?? []
  if (ascii === undefined || marks === undefined) return Buffer.from(text)
  if (marks !== MARK) return Buffer.from(`${ascii}${marks.slice(REPLACED.length)}${rest}`)
  return Buffer.concat([Buffer.from(ascii), Buffer.from(rest, 'hex')])
}

/** As names are shown: NUL as it is, and U+FFFD for what is not UTF-8. Different bytes may read the same. */
export const shownText = (text: string): string => lossy.decode(bytesOfText(text))

/** A byte order mark is a character as any other. */
const lossy = new TextDecoder('utf-8', { ignoreBOM: true })

const looksSpelled = new RegExp(`^(\\p{ASCII}*)(${REPLACED}+0x)(.*)$`, 'su')

const isAsciiCharacter = (byte: number): boolean => byte > 0 && byte < 0x80

function spelledOut(bytes: Buffer): string {
  const end = bytes.findIndex((byte) => !isAsciiCharacter(byte))
  return `${bytes.toString('latin1', 0, end)}${MARK}${bytes.toString('hex', end)}`
}
