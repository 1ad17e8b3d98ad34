import { describe, expect, it } from 'vitest'
import { findSensitive, type SensitiveKind } from './findSensitive.ts'

const hex = (digits: number) => 'b7f3a90c54e1d28f'.repeat(20).slice(0, digits)
const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
const uuid = '3f2b8c1e-7d4a-4e9b-9c6f-1a2b3c4d5e6f'
const json64 = Buffer.from('{"challenge":{"id":"abcdefgh"},"payload":{}}').toString('base64url')

/** By the kind that is named. */
const secrets: readonly (readonly [SensitiveKind, readonly string[]])[] = [
  [
    'a private key (or a hash, which looks like one)',
    [
      `my key is 0x${hex(64)}`,
      hex(64).toUpperCase(),
      (hex(64).match(/../g) ?? []).join(':'),
      '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE',
      '-----BEGIN OPENSSH PRIVATE KEY-----',
      `xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi`,
      '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ',
      'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn',
      `[${Array.from({ length: 64 }, (_, index) => (index * 37) % 256).join(', ')}]`,
      `AGE-SECRET-KEY-1${'QYQSZQGPQ'.repeat(6)}`,
    ],
  ],
  [
    'a seed phrase',
    [
      words,
      `recovery: ${words.toUpperCase()}`,
      words.split(' ').join(', '),
      words
        .split(' ')
        .map((word, index) => `${index + 1}. ${word}`)
        .join('\n'),
      `${words} ${words}`,
      Array(12).fill('あいこくしん').join(' '),
      'ábaco abdomen abeja abierto abogado abono aborto abrazo abrir abuelo abuso acabar',
    ],
  ],
  [
    'an API key, a password or a token',
    [
      'sk-proj-abcDEF123456ghiJKL7890mnop',
      'sk_live_51HG7fXaBcDeFgHiJkLmNoPq',
      'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
      'github_pat_11ABCDEFG0abcdefghij_klmnopqrstuv',
      'xoxb-123456789012-abcdefGHIJKL',
      'AKIAIOSFODNN7EXAMPLE',
      'AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY',
      'use svc_live_9aBcDeFgHiJk then',
      'the secret whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD fails',
      'my password is hunter2!',
      'api_key=a1b2c3d4',
      'postgres://admin:s3cret@db.example.com/x',
      'Authorization: Bearer abc123def456ghi789',
      'sent bearer 9f86d081884c7d65 and got 401',
      'Cookie: session=abc',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
      'dGhpcyBpcyBhIHNlY3JldDEyMzQ1Njc4OTA4NzY1NDMyMQ==',
      'glpat-abcDEF123456ghiJKL78',
    ],
  ],
  [
    'a payment credential',
    [
      `Payment ${json64}`,
      'WWW-Authenticate: Payment id="x", realm="y"',
      'PAYMENT-SIGNATURE: abc',
      `signed 0x${hex(130)}`,
      'card 4242 4242 4242 4242',
      '5555555555554444',
      'DE89 3704 0044 0532 0130 00',
    ],
  ],
  [
    'a receipt',
    [
      'Payment-Receipt: eyJ',
      `receipt: ${json64}`,
      `the receipt 0x${hex(20)} is lost`,
      `reference=0x${hex(40)}`,
    ],
  ],
  [
    'an e-mail address',
    [
      'write to jane.doe@example.com',
      'jane＠example．com',
      'jane (at) example (dot) com',
      'jane at example dot com',
      'ja\u200bne@exam\u200bple.com',
    ],
  ],
  [
    'a phone number',
    [
      '+49 30 1234567',
      '(555) 123-4567',
      '555-123-4567',
      'call me 5551234567',
      '030/1234567',
      '0044 20 7946 0958',
    ],
  ],
  ['a job id', [`job ${uuid} hangs`, uuid.toUpperCase(), uuid.replaceAll('-', '')]],
  [
    'an input or output of a tool',
    [
      'it said {"error":{"code":"plan_invalid"}}',
      "{'city': 'Paris'}",
      'I passed flow://a/output',
      '<tool_result>42</tool_result>',
      '["a", "b"]',
    ],
  ],
]

const honest = [
  'Search is fast. Thank you!',
  'The quote for a plan of five nodes took 3 seconds, please make it faster.',
  'describe_service does not say which currency a price is in.',
  'I would like to filter by category, for example weather.',
  'Why is limit at most 20? My agent wants 50.',
  'Block 12345678 shows the wrong time in the explorer.',
  'The token 0x20c0000000000000000000000000000000000000 has no symbol.',
  'Timestamps like 1732590000 should be ISO 8601.',
  'On 2026-11-26 at 14:05 the service answered 503 for about ten minutes.',
  'Version 0.2.0 broke our import; 0.1.9 was fine.',
  'The error plan_invalid should name the node that is wrong.',
  'next_action told me to search again, which helped.',
  'Please support POST bodies of type multipart/form-data.',
  'The sample in docs/services.md does not run: the path is /v1/quote, not /quote.',
  'A price of 1,000,000 units is shown as 1.',
  'It costs 0.0005 dollars, which is a fair price.',
  'Our budget is 25.00 dollars a month.',
  'quote_plan refuses method PATCH although the service lists it.',
  'Please add a dark theme to the page Services.',
  'The API key page does not load in Safari 18.',
  'I forgot my password and found no way to reset it.',
  'My seed phrase is safe with me, but the wording on the page made me nervous.',
  'A private key should never be asked for; good that you say so.',
  'The phone layout of the console overflows at 390 pixels.',
  'E-mail me when a job is done would be a nice feature.',
  'The receipt format is hard to understand.',
  'Payment by card would be great.',
  'Rate limit of 120 per minute is too low for us.',
  'La búsqueda no encuentra servicios de clima en español.',
  'Die Suche findet „Wetter“ nicht, „weather“ schon.',
  '検索がとても速いです。ありがとうございます。',
  '搜索结果很好，但是价格不清楚。请告诉我们货币是什么，以及什么时候更新。',
  'See https://docs.example.com/guides/getting-started/quickstart-with-agents for what I mean.',
  'The chain 4217 lags 30 blocks behind; chain 1337 is fine.',
  'Latency: p50 120 ms, p95 900 ms, p99 2400 ms over 10 000 calls.',
  'It would help if get_job told the stage, e.g. 2 of 3.',
  'IPv4 192.168.100.17 cannot reach the server, 10.0.0.1 can.',
  'Retry-After is 60 although the window ends in 5 seconds.',
  'Result digests (sha256) are a great idea!',
  'Numbers such as 100000000000000000000 are refused, which is right, but the text could be shorter.',
]

describe('what must not be told to strangers', () => {
  it('is tried with 60 secrets of every kind and 40 honest messages', () => {
    expect(secrets.flatMap(([, texts]) => texts).length).toBeGreaterThanOrEqual(60)
    expect(honest).toHaveLength(40)
  })

  it.each(secrets.flatMap(([kind, texts]) => texts.map((text) => [kind, text] as const)))(
    'is %s: %s',
    (kind, text) => {
      expect(findSensitive(text)).toContain(kind)
      expect(findSensitive(`It did not work. ${text}, sorry.`)).toContain(kind)
    },
  )

  it.each(honest)('is not: %s', (text) => {
    expect(findSensitive(text)).toEqual([])
  })

  it('is looked for in a time that grows with the text', () => {
    for (const part of ['a@', '1 ', '0x', '{"', '+1-', 'eyJ', 'payment ', 'ab:', 'a.', '(1) ', 'A1 '])
      findSensitive(part.repeat(4_000 / part.length))
  })
})
