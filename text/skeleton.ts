/**
 * A name's look at a glance: names of one skeleton imitate each other. Covers the letters of other
 * alphabets that are drawn as Latin ones, digits drawn as letters, accents, case, and everything between
 * the letters.
 */
export function skeletonOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(anyLookalike, (letter) => lookalikes.get(letter) ?? letter)
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}

const lookalikes = new Map<string, string>(
  Object.entries({
    a: 'аɑα',
    b: 'ьƅ',
    c: 'сϲ',
    d: 'ԁ',
    e: 'еєε',
    g: 'ɡ',
    h: 'һ',
    i: 'іıιl1|!',
    j: 'ј',
    k: 'кκ',
    m: 'м',
    n: 'ոп',
    o: 'оοσ0օ',
    p: 'рρ',
    q: 'ԛ',
    s: 'ѕ5$',
    t: 'тτ',
    u: 'υս',
    v: 'ѵν',
    w: 'ԝω',
    x: 'хχ',
    y: 'уγ',
    z: '2',
  }).flatMap(([latin, letters]) => [...letters].map((letter) => [letter, latin] as const)),
)

const anyLookalike = new RegExp(`[${[...lookalikes.keys()].join('')}]`, 'gu')
