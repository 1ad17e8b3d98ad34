import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address, address, hash } from '#primitives.ts'
import { arbitraryLog, decodeWithViem } from '#test/support/arbitraryLog.ts'
import * as addresses from '../addresses.ts'
import {
  accountKeychainAddress,
  feeManagerAddress,
  keyPublisherAddress,
  tip20FactoryAddress,
  validatorConfigAddress,
} from '../addresses.ts'
import { publisherKeyRevoked, publisherOwnershipTransferred } from './accounts/keyPublisher.ts'
import type { ContractEvent } from './event.ts'
import { decodeLog, events, findEvents } from './index.ts'
import { transfer } from './tokens/erc20.ts'
import { mint } from './tokens/tip20.ts'
import { ownershipTransferred } from './validatorConfig.ts'

/**
 * From the public ABIs of the contracts, written out so that a typo in a signature cannot agree
 * with itself.
 */
const expectedTopic0s = [
  ['UserTokenSet', '0xabc7758d4ca817ce0d125eb731121a1304c36077b791253be835b95472368856'],
  ['ValidatorTokenSet', '0x6eb51f8f7e857fb2caf4257da4219a86adeed7128412764e41334968165f5f0c'],
  ['FeesDistributed', '0xfe29ed2b7edbf126f3c1660fa23703a1c600aff44409f07b3c848bbb03631f95'],
  ['Mint', '0xf114ca9eb82947af39f957fa726280fd3d5d81c3d7635a4aeb5c302962856eba'],
  ['Mint', '0xeca801b067fae3d181506c21fb55d44a644d16cdb863595643131a7e105b5f01'],
  ['Burn', '0xa1306df62797fd30333308e15e2db0aed324580be7f22c124614a44310ec7fcc'],
  ['RebalanceSwap', '0x1e9bc167ac8bc86f20f6d5c4c24338e554a9ae0f92faa67d1e2f59fe4a89c97f'],
  ['Transfer', '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'],
  ['Approval', '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'],
  ['TransferWithMemo', '0x57bc7354aa85aed339e000bccffabbc529466af35f0772c8f8ee1145927de7f0'],
  ['Mint', '0x0f6798a560793a54c3bcfe86a93cde1e73087d944c0ea20544137d4121396885'],
  ['Burn', '0xcc16f5dbb4873280815c1ee09dbd06736cffcc184412cf7a71a0fdb75d397ca5'],
  ['BurnAt', '0x9272a54543b703f7620d2c151ff14b830f777d251b5f56678d191a9009ee9f35'],
  ['BurnBlocked', '0xeff07194896bfa6254e521809f217f70dbdd9cefa6b894f5326af3ce8402c320'],
  ['TransferPolicyUpdate', '0xa870ab07b4f8e8e92e8876245ea0ec666bc09ccf6814a1fb6a8e6984b1932cce'],
  ['SupplyCapUpdate', '0x6d7e6630766134be7e051b11b8882e6f47926ddd2fd1268bebd168c30f055c4f'],
  ['PauseStateUpdate', '0xf79595a776ff71356be9e7ff196226a16d0f4d637ff39031256c0eafd7af6b5e'],
  ['NextQuoteTokenSet', '0x509c22f85ddeb1f3a347c45d225acd96afb87104e38b781e22a9376f0842a83a'],
  ['QuoteTokenUpdate', '0xa2bc96949c0ac82a2c9b213d46c45d745e1e2567d1496b5e117d9c808ef004f3'],
  ['RewardDistributed', '0xe34918ff1c7084970068b53fd71ad6d8b04e9f15d3886cbf006443e6cdc52ea6'],
  ['RewardRecipientSet', '0xbbf8c20751167a65b38d4dd87c3eba00bfae01d85fb809a89eee1ba842673b98'],
  ['LogoURIUpdated', '0x85e241dac85a215868931b91ac54f59cbac1b80f05dbc678b4376e4f2ce4c835'],
  ['RoleMembershipUpdated', '0x4811f35680ba814bed6b0b926a2949c8a1000f4f2443cfe9978745d46a251aec'],
  ['RoleAdminUpdated', '0x70d85637458e639f63e6106179309eadde21dacce320d9549168d49d0a9d6982'],
  ['TokenCreated', '0x44f7b8011db3e3647a530b4ff635726de5fafc8fa8ad10f0f31c0eb9dd52fc65'],
  ['PairCreated', '0xaff90cfc97c741e6d1ffffa62656c16a763f41dc773055d7b0c36950a823babf'],
  ['OrderPlaced', '0xc200d837816d02c5ee9bf081cba1a32ab1482de7a738b41c0b357186b0b998cd'],
  ['OrderFilled', '0x16c08f8f2c17b3c8879b3e3cf5efdbdcdfdbd0fcb3890f9d3086f470cd601ddd'],
  ['OrderFlipped', '0x37a42d10bbce3e94e109a6a44e4479f0ee45dd6ecc6ca902168ea58e01ba32fe'],
  ['FlipFailed', '0x51fbc4e39b03172adeae05359178834eaf629c3fd6a8a081daa4bd36885c0dad'],
  ['OrderCancelled', '0x06ff08ed6b6987bb7df963009d8b54dc03988f4e465c009924929bb010fe03e7'],
  ['KeyAuthorized', '0x7c46af0758d3eca5e8195833bff1e5153f6249fc0f2968a878fd28544315a03c'],
  ['AdminKeyAuthorized', '0x493bc0240c1da6c792754dc5247d39ed76c71c99a43e16777538687f8d05e88e'],
  ['KeyRevoked', '0x14ce4f0c8c12936436b733974fb13d10fc13e8c41c06dc8e19d82001c93d7989'],
  ['SpendingLimitUpdated', '0x2ed96330c6ac81a9996d367bd5d4a227c02b9b3ca4c2b077cb943abc6342d00d'],
  ['AccessKeySpend', '0xe0815e3aaadddf4dd75bde97fc060f0c38afe18e87a169be86a3f5c28247f192'],
  ['KeyAuthorizationWitness', '0x1f09d8956d18ea185372a3f7f40aca24bb45f303920c37c5f0605f4871da41f6'],
  ['KeyAuthorizationWitnessBurned', '0x90c05384a0773712c636a71fde10916abfd2af82c26066b33f082119b47786c2'],
  ['NonceIncremented', '0x42d98041765078b1557c6a9fe7e4a27230ca413fc141df57d89acd6cc68ffb45'],
  ['PolicyCreated', '0x718d87917f0c4cfd1263707ef0e77c656ed8d8bfaca06152bdb0b8094142ec27'],
  ['PolicyAdminUpdated', '0x98925cfb1bc09c5b43dd0dd56d3d95aa04fb3300927580cc588c3f5dd58c15e1'],
  ['WhitelistUpdated', '0xb15f514df899cf1b4ef0dc78f930c10d98883756fa3a1a8853a98132e7f4c5a6'],
  ['BlacklistUpdated', '0x94c23f8f319426f2da63b46b024acbc55fe44a5c59dc4c00d11b792515083c54'],
  ['CompoundPolicyCreated', '0x6e054cdd4e9405e97868ec27e55ca41ee66a481d8cbab2f0283a87a6727a9ab6'],
  ['ReceivePolicyUpdated', '0xf0d46e7e04f2bf4cc56ea683299f4145c2650ef690e276e069bc2b806d68b2ea'],
  ['TransferBlocked', '0x361d86e46fd139dc3eac4148f16b53597f0f8ddd9aba772aae0034bda5531b1c'],
  ['ReceiptClaimed', '0xdfa88f3774430fdb1d282219332a663236ccc8035ba8b9e0df856b374a5db085'],
  ['ReceiptBurned', '0x61d14663748cd685c80a8434fc260ea4f4b27e213768b94375aa33b3985bf952'],
  ['MasterRegistered', '0xb5c59136d5edcbb78af73e696fa65a73a2856c847f832a8d7be05cff85629015'],
  ['ChannelOpened', '0xdebaba36f0e9c7978f536fed432d9360b1f9646d7ca88531c34c3eae43f154a7'],
  ['TopUp', '0x2a96f534665f3150977dd4c35d91373c74030288edbb3cf83c527dd25012364f'],
  ['Settled', '0x11c4e4c79ad8802431b44c15047ed1ddb82fbfc1abd452c765f7ee3990df1399'],
  ['CloseRequested', '0xf5a36fc00a96cbb9cf1f8f59299165e1d8ffffe94396d82904b4da524d16bbce'],
  ['CloseRequestCancelled', '0x6bbcbc59913c43e567847487b95410b0b65cf253531b1c6505b21f8359c838fe'],
  ['ChannelClosed', '0x5613aed96d5bf39f928408dbe1d4143490b9bb5957eac2dd8e69b5dc4b2206e6'],
  ['ValidatorAdded', '0x2f013b45d5e1f23545bf878cd3fd902f5a327541c96f83fc826a2d9bb25d79a1'],
  ['ValidatorDeactivated', '0x67d2695de7744d47781e04f4e6e3c98540bd3efdf5eba283c32734701cf0d240'],
  ['ValidatorRotated', '0x1068b9f6c5935b37af967e63040bf1a8540171c0bd0255180625784b00f5dd3b'],
  ['ZoneCreated', '0x4f2c5b8ee43ce856328b02e8d2b193126eb1c13f34475bd902ecb9a1eaa826a4'],
  ['ZoneCreated', '0x9a24b7ee81ecd1f642ddacc6551f92e12b55acf91447217e02546af88cfd0741'],
  ['DepositMade', '0x51046223e5e0abca942f13a8f3d1c8dfd59c8b6c4f3e64fc2f5bf453767a97ca'],
  ['WithdrawalProcessed', '0x65042ea6dad60c26f055e80ec401b3437c854ed586a0704d305bb4e9ea4518cf'],
  ['BatchSubmitted', '0x5a66941dc92cb865480c966eff640c02b1d00d544b74332fd67c6f1cbfccdf39'],
  ['BatchSubmitted', '0x2ad9ed3f2b3ff263b7a3cf97621dfc164b1d2303160c10d0dc421f866d0d54ef'],
  ['TokenEnabled', '0x4ac4dcc08b0c26c3fb6b58c64c1392b7934b1ce6b0382a5986ea5c3de795e053'],
  ['MultisigInitialized', '0x17616168fe564345fbf44ffda9c6fec7ee0bce5473b268477649747f6cc0001f'],
  ['MultisigConfigUpdated', '0x7c5ca4b5b1cca022eeb466c40a97206e879a5831cd97e239834ab37101b4c1a2'],
  ['ConfigurableAccountConfigUpdated', '0x30a5bc758053b4e2cab86cf2eb8332ad2abe9f2a115bf06dd8144b7ef20c70f8'],
  ['AccountUpgraded', '0xed7c30ef4cf895f16a2829f39ee208ace82cce15126bdf07160e27c5bc434007'],
  ['PublisherCreated', '0xbb427ab85e3dd89e676e93242dacc24f884c9608f81f2afc4f6f4f8839dbf870'],
  ['OwnershipTransferred', '0x0b659dccc8eb950324170e8d9598af5ee04ee070883eb28651a96788721fbf83'],
  ['KeysSet', '0xdf6c21189b005612151a8c00eb0cb126125a4bdeefc58dc68c967a5a2fbc3171'],
  ['KeyRevoked', '0x6d15daf103222199830637ba156a6a56dd20c47d7b900bcf656ebcb78f1980d1'],
  ['OwnershipTransferred', '0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0'],
  ['Deposited', '0xf5681f9d0db1b911ac18ee83d515a1cf1051853a9eae418316a2fdf7dea427c5'],
  ['VenueSharesDeposited', '0x35b15b3f988e6b5a7c3c72c7f44307862e2a93754541f8c81992b9365997bbc0'],
  ['Redeemed', '0x5cdf07ad0fc222442720b108e3ed4c4640f0fadc2ab2253e66f259a0fea83480'],
  ['WithdrewExact', '0x667b1fd1a4d0290e6423170325223d7815bf90da8b978f2ad2001b314ac49c12'],
  ['RedeemRequested', '0xaa7dc873a7d37b94883eae5b185beafe0223de340014bc7a1690496363d5bb28'],
  ['RedeemFinalized', '0xd638999d611edc2680566b9afcd2c3ab1af17bf7438f625503928b75bd39e3cb'],
  ['RedeemCancelled', '0xba481b3d46265a658a5106b2462d1fe3c6c50c858b33e5548f598073326b23ab'],
  ['EarnDeposit', '0xf1dee260f7867e5323c562623241274fc7f68bd4d401b11d429533f293b53c2e'],
  ['EarnRedeem', '0xf726580d60ed2b9783c2664c1881409e6dbd79bbb4b7c9e527712e3c3e6343fc'],
  ['EarnSpent', '0x32cd8de219862133a877412c055ef886f4df26fa8748371af60c9ff55f598c46'],
  ['NativeEarnRegistered', '0x52586cdf52dd83c5e54afe27a4c31cc4f7d3b5fb7b0d8efa14d3ca27bcbb2ac1'],
  ['NativeEarnRegistered', '0xe941985d5446028e43c141fc9de757ef0be628464c52a67b2e875d981f2c5d4b'],
  ['EarnStackDeployed', '0x950acdb981ae9ee0189b7bba6d347b4fb9b24f0e4f630a1b9a388bc5702fd67b'],
]

const stranger = address('0x00000000000000000000000000000000000000aa')
const token = address('0x20c00000000000000000000000000000000000ff')

describe('the registry', () => {
  it.each(expectedTopic0s)('%s has the topic0 %s', (name, topic0) => {
    expect(findEvents(hash(topic0)).map((event) => event.name)).toContain(name)
  })

  it('tells every two events apart by topic0 or emitter', () => {
    const emitters = [stranger, token, ...systemContracts()]
    const seen = events.flatMap((event) =>
      emitters
        .filter(event.isEmittedBy)
        .map(
          (emitter) =>
            `${event.topic0} ${emitter} ${event.abi.inputs.filter((input) => input.indexed).length}`,
        ),
    )
    expect(new Set(seen).size).toBe(seen.length)
  })
})

describe.each(events.map((event) => [event.signature, event] as const))('%s', (_signature, event) => {
  it('is found in its logs and reads them as viem does', () => {
    fc.assert(
      fc.property(arbitraryLog(event.abi), (log) => {
        const decoded = decodeLog({ ...log, address: emitterOf(event) })
        expect(decoded?.event).toBe(event)
        expect(decoded?.args).toEqual(decodeWithViem(event.abi, log))
      }),
      { numRuns: 20 },
    )
  })
})

describe('a look-alike', () => {
  it('of a token event from another contract is not that event', () => {
    const [log] = fc.sample(arbitraryLog(mint.abi), 1)
    if (log === undefined) throw new Error('no sample')
    expect(decodeLog({ ...log, address: token })?.event).toBe(mint)
    expect(decodeLog({ ...log, address: feeManagerAddress })).toBeNull()
  })

  it('of a key publisher elsewhere is none, and its events are not those of other contracts', () => {
    for (const event of [publisherOwnershipTransferred, publisherKeyRevoked]) {
      const [log] = fc.sample(arbitraryLog(event.abi), 1)
      if (log === undefined) throw new Error('no sample')
      expect(decodeLog({ ...log, address: keyPublisherAddress })?.event).toBe(event)
      expect(decodeLog({ ...log, address: validatorConfigAddress })).toBeNull()
      expect(decodeLog({ ...log, address: accountKeychainAddress })).toBeNull()
    }
  })

  it("of the ownership event from any ownable contract is not the validators'", () => {
    const [log] = fc.sample(arbitraryLog(ownershipTransferred.abi), 1)
    if (log === undefined) throw new Error('no sample')
    expect(decodeLog({ ...log, address: validatorConfigAddress })?.event).toBe(ownershipTransferred)
    expect(decodeLog({ ...log, address: stranger })).toBeNull()
  })

  it('of Transfer with the token id indexed (ERC-721) is not a token transfer', () => {
    const [log] = fc.sample(arbitraryLog(transfer.abi), 1)
    if (log === undefined) throw new Error('no sample')
    const topics = [...log.topics, hash(`0x${log.data.slice(2)}`)]
    expect(decodeLog({ topics, data: '0x', address: stranger })).toBeNull()
  })
})

describe('logs without a meaning', () => {
  it('has none: no topics, or a topic0 nobody declared', () => {
    expect(decodeLog({ address: tip20FactoryAddress, topics: [], data: '0x' })).toBeNull()
    expect(
      decodeLog({ address: tip20FactoryAddress, topics: [hash(`0x${'1'.repeat(64)}`)], data: '0x' }),
    ).toBeNull()
  })
})

function systemContracts(): readonly Address[] {
  return Object.values(addresses).filter((value) => typeof value === 'string')
}

/** An address whose logs the event accepts. */
function emitterOf(event: ContractEvent): Address {
  const emitter = [stranger, token, ...systemContracts()].find(event.isEmittedBy)
  if (emitter === undefined) throw new Error(`nobody emits ${event.signature}`)
  return emitter
}
