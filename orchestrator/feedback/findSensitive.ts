/** Sensitive data in a text, found by its form. The kinds that were found are said, and never the data. */
import { hasSeedPhrase } from './seedPhrase.ts'

export type SensitiveKind = keyof typeof finders

/** The kinds that a text holds. */
export function findSensitive(text: string): readonly SensitiveKind[] {
  // Signs that are not seen, and wide or styled letters, hide nothing.
  const plain = text.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
  return sensitiveKinds.filter((kind) => finders[kind](plain))
}

/** Why a text that holds them is refused. */
export const sensitiveMessage = (found: readonly SensitiveKind[]): string =>
  `holds what looks like ${found.join(', ')}: leave it out, nothing was stored`

const anyOf =
  (...patterns: readonly RegExp[]) =>
  (text: string): boolean =>
    patterns.some((pattern) => pattern.test(text))

/** A word that nobody writes: digits among letters, again and again. */
function hasRandomWord(text: string): boolean {
  const words = text.match(/(?<![\w/.-])[A-Za-z0-9+/_=-]{28,}(?![\w/.-])/g) ?? []
  return words.some((word) => !/^0x/i.test(word) && (word.match(/\d[A-Za-z]|[A-Za-z]\d/g)?.length ?? 0) >= 4)
}

/** 13 to 19 digits, alone or in groups, whose last one proves the others (ISO/IEC 7812). */
function hasCardNumber(text: string): boolean {
  const numbers = text.match(/(?<![\w.])\d{4}(?:[ -]?\d{2,6}){2,4}(?![\w.])/g) ?? []
  return numbers
    .map((number) => number.replaceAll(/\D/g, ''))
    .some((digits) => digits.length >= 13 && digits.length <= 19 && luhnSum(digits) % 10 === 0)
}

const luhnSum = (digits: string): number =>
  [...digits].toReversed().reduce((sum, digit, place) => {
    const value = Number(digit) * (place % 2 === 1 ? 2 : 1)
    return sum + (value > 9 ? value - 9 : value)
  }, 0)

const hasNamedSecret = anyOf(
  /\b(?:sk|pk|rk)[-_](?:live|test|ant|proj|or)?[-_]?[A-Za-z0-9_-]{16,}/,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|hf_|npm_|pypi-|dop_v1_|shpat_|sq0[a-z]{3}-)[\w.-]{10,}/,
  /\b(?:SG\.|ya29\.|lin_api_|ntn_|r8_)[\w.-]{10,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[\w-]{30,}/,
  /\b(?:svc_(?:live|test)_|whsec_)[A-Za-z0-9+/=_-]{8,}/,
  /\b(?:pass(?:word|wd|phrase)?|secret|api[-_ ]?key|access[-_ ]?key|token|pin)["']?\s*(?:[:=]|\bis\b)\s*["']?(?=\S*\d)\S{4,}/i,
  // A password in a URL.
  /\/\/[^\s/:@]+:[^\s/@]+@/,
  /\b(?:bearer|basic)\s+(?=\S*[\d=_-])[\w.~+/=-]{12,}/i,
  /\b(?:authorization|cookie|set-cookie|svc-api-key|x-api-key)\s*:\s*\S/i,
  /\bey[JK][\w-]{10,}\.[\w-]{4,}/,
)

const finders = {
  // Hashes have the same form: nobody can tell them from keys.
  'a private key (or a hash, which looks like one)': anyOf(
    /(?<![0-9a-f])(?:[0-9a-f]{64}|(?:[0-9a-f]{2}[\s:]){31}[0-9a-f]{2})(?![0-9a-f])/i,
    /-----BEGIN [A-Z0-9 ]+-----/,
    /\b[xyzt]prv[1-9A-HJ-NP-Za-km-z]{40,}/,
    /\b(?:nsec1|AGE-SECRET-KEY-1)[0-9a-z]{40,}/i,
    // The import format of Bitcoin, and keys of Solana.
    /\b[5KLc][1-9A-HJ-NP-Za-km-z]{50,51}\b/,
    /\b[1-9A-HJ-NP-Za-km-z]{86,88}\b/,
    /\[\s*(?:\d{1,3}\s*,\s*){31,}\d{1,3}\s*\]/,
  ),
  'a seed phrase': hasSeedPhrase,
  'an API key, a password or a token': (text: string) => hasNamedSecret(text) || hasRandomWord(text),
  'a payment credential': (text: string) =>
    hasCardNumber(text) ||
    anyOf(
      /\bpayment\s+(?:[a-z]+="|ey[\w-]{16,})/i,
      /\b(?:x-payment|payment-signature|payment-required|www-authenticate)\b\s*[:=]/i,
      // A signature of an account, or a signed transaction.
      /(?<![0-9a-f])(?:0x)?[0-9a-f]{130,}/i,
      /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b/,
    )(text),
  'a receipt': anyOf(
    /\bpayment-(?:receipt|response)\b\s*[:=]/i,
    /\breceipt\b["']?\s*[:=]?\s*["']?(?:ey[\w-]{16,}|0x[0-9a-f]{16,})/i,
    /["']?\b(?:reference|txHash|transactionHash)\b["']?\s*[:=]\s*["']?0x[0-9a-f]{16,}/i,
  ),
  'an e-mail address': anyOf(
    /[\p{L}\p{N}._%+-]+ ?(?:@|\(at\)|\[at\]| at (?=[\w-]+ dot )) ?[\p{L}\p{N}-]+(?: ?(?:\.|\(dot\)|\[dot\]| dot ) ?\p{L}{2,})+/iu,
  ),
  'a phone number': anyOf(
    /(?<![\w.])(?:\+|00)[1-9](?:[\s().-]{0,2}\d){7,14}(?!\w)/,
    /(?<![\w.-])\(\d{2,5}\)[\s.-]?\d{2,4}(?:[\s.-]?\d{2,5}){1,3}(?!\w)/,
    /(?<![\w.-])\d{3}[\s.-]\d{3}[\s.-]\d{4}(?![\w.-])/,
    /(?<![\w.-])0\d{1,4}[\s/-]\d{3,4}[\s-]?\d{3,5}(?![\w.-])/,
    /\b(?:phone|tel|telephone|mobile|cell|call me|text me|whatsapp)\b[^\d\n]{0,20}\+?\d(?:[\s().-]{0,2}\d){6,14}/i,
  ),
  'a job id': anyOf(
    /(?<![0-9a-f])[0-9a-f]{8}-?[0-9a-f]{4}-?[1-8][0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}(?![0-9a-f])/i,
  ),
  'an input or output of a tool': anyOf(
    /[{[]\s*\\?["'][^"'\n]{1,100}["']\s*[:,]/,
    /\bflow:\/\/\w/,
    /\b(?:structuredContent|tool_result|tool_use|function_call|tools\/call|jsonrpc)\b/,
    /<\/?(?:tool|function|result|invoke|parameter)[\w-]*[\s>]/i,
  ),
} as const satisfies Readonly<Record<string, (text: string) => boolean>>

const sensitiveKinds = Object.keys(finders).filter((kind): kind is SensitiveKind =>
  Object.hasOwn(finders, kind),
)
