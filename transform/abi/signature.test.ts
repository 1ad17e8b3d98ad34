import { describe, expect, it } from 'vitest'
import { parseSignature } from './signature.ts'

describe('parseSignature', () => {
  it.each([
    [
      'Transfer(address indexed from, address indexed to, uint256 amount)',
      'Transfer(address,address,uint256)',
    ],
    ['event Transfer ( address , address,uint ) ;', 'Transfer(address,address,uint256)'],
    ['E((uint a, (bool, bytes4[2])[] b)[3][] c)', 'E((uint256,(bool,bytes4[2])[])[3][])'],
    ['E(tuple(uint8 a) t, address payable p)', 'E((uint8),address)'],
    ['function f(bytes calldata data) external payable returns (bool, (int8)[] x)', 'f(bytes)'],
    ['E()', 'E()'],
  ])('reads %s', (text, canonical) => {
    expect(parseSignature(text).canonical).toBe(canonical)
  })

  it('hashes an event whole and a function to four bytes', () => {
    expect(parseSignature('Transfer(address,address,uint256)').selector).toBe(
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    )
    expect(parseSignature('function transfer(address,uint256)').selector).toBe('0xa9059cbb')
  })

  it('names the table after the event, or after `as`', () => {
    expect(parseSignature('E(uint8 as)').table).toBe('E')
    expect(parseSignature('E(uint8) as v2').table).toBe('v2')
  })

  it.each([
    ['', 'expected a name'],
    ['E', 'expected "("'],
    ['E(uint8', 'expected ")"'],
    ['E(uint8) x', 'expected the end'],
    ['E(uint7)', 'uint7 is no ABI type'],
    ['E(bytes33)', 'bytes33 is no ABI type'],
    ['E(Token t)', 'Token is no ABI type'],
    ['E(uint8[0])', 'a length above 0'],
    ['E(() t)', 'a tuple needs components'],
    ['E(uint8[2000])', 'too long'],
    [`E(${'('.repeat(20)}uint8${')'.repeat(20)})`, 'nested deeper'],
    [`E(uint8${'[]'.repeat(20)})`, 'nested deeper'],
    ['E(bool indexed, bool indexed, bool indexed, bool indexed)', 'room for 3 indexed'],
    ['E(uint8) anonymous', 'anonymous'],
    [`E(uint8 ${'a'.repeat(64)})`, 'longer than 63'],
    [`E(${'uint8,'.repeat(64)}uint8)`, 'more than 64 parameters'],
    ["E(uint8 a'b)", 'expected ")"'],
    ['E(uint8 a) as "x"', 'expected a name after `as`'],
  ])('refuses %s', (text, problem) => {
    expect(() => parseSignature(text)).toThrow(problem)
  })
})
