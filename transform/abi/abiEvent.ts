/** Parsed signatures as decoders take them: items of a contract's ABI. */
import type { AbiEvent, AbiParameter } from 'viem'
import { type AbiComponent, type AbiType, canonicalType } from './abiType.ts'
import type { Signature, SignatureParameter } from './signature.ts'

/** The name of a parameter or component; undefined if it has none. */
type NameOf = (component: AbiComponent, index: number) => string | undefined

const ownName: NameOf = ({ name }) => name

export const abiEvent = (
  { name, parameters }: Pick<Signature, 'name' | 'parameters'>,
  nameOf: NameOf = ownName,
): AbiEvent => ({
  type: 'event',
  name,
  inputs: parameters.map((parameter: SignatureParameter, index) => ({
    ...abiParameter(parameter, index, nameOf),
    indexed: parameter.isIndexed,
  })),
})

function abiParameter(component: AbiComponent, index: number, nameOf: NameOf): AbiParameter {
  const name = nameOf(component, index)
  const type = abiName(component.type)
  const components = componentsIn(component.type)?.map((inner, at) => abiParameter(inner, at, nameOf))
  return { type, ...(name !== undefined && { name }), ...(components && { components }) }
}

const componentsIn = (type: AbiType): readonly AbiComponent[] | null =>
  type.kind === 'tuple' ? type.components : type.kind === 'list' ? componentsIn(type.element) : null

/** As a JSON ABI spells it. */
function abiName(type: AbiType): string {
  if (type.kind === 'tuple') return 'tuple'
  if (type.kind === 'list') return `${abiName(type.element)}[${type.length ?? ''}]`
  return canonicalType(type)
}
