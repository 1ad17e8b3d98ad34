// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

// Payment channels for the dev chain, in place of the contract that Tempo has at the same address since T5 (TIP-1034):
// anvil stops at T4. channelEscrow.json holds the code that runs; test/local/devchain/channels.test.ts compiles this
// file anew and compares. What differs from Tempo's: the payer has to approve it, vouchers are signed by secp256k1
// alone, and the hash of an opening transaction, which a contract cannot see, is written into `openings` beforehand.

interface Token {
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

contract ChannelEscrow {
    struct Descriptor {
        address payer;
        address payee;
        address operator;
        address token;
        bytes32 salt;
        address authorizedSigner;
        bytes32 expiringNonceHash;
    }

    struct State {
        uint96 settled;
        uint96 deposit;
        uint32 closeRequestedAt;
    }

    struct Channel {
        Descriptor descriptor;
        State state;
    }

    event ChannelOpened(
        bytes32 indexed channelId,
        address indexed payer,
        address indexed payee,
        address operator,
        address token,
        address authorizedSigner,
        bytes32 salt,
        bytes32 expiringNonceHash,
        uint96 deposit
    );
    event Settled(
        bytes32 indexed channelId,
        address indexed payer,
        address indexed payee,
        uint96 cumulativeAmount,
        uint96 deltaPaid,
        uint96 newSettled
    );
    event TopUp(
        bytes32 indexed channelId,
        address indexed payer,
        address indexed payee,
        uint96 additionalDeposit,
        uint96 newDeposit
    );
    event CloseRequested(
        bytes32 indexed channelId, address indexed payer, address indexed payee, uint256 closeGraceEnd
    );
    event CloseRequestCancelled(bytes32 indexed channelId, address indexed payer, address indexed payee);
    event ChannelClosed(
        bytes32 indexed channelId,
        address indexed payer,
        address indexed payee,
        uint96 settledToPayee,
        uint96 refundedToPayer
    );

    error Refused(string reason);

    uint64 public constant CLOSE_GRACE_PERIOD = 15 minutes;
    bytes32 public constant VOUCHER_TYPEHASH = keccak256("Voucher(bytes32 channelId,uint96 cumulativeAmount)");
    /// Half the order of secp256k1: of the two signatures of one key, the lower.
    uint256 private constant S_MAX = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    /// Slot 0: the hash of the transaction that opens a channel, by payer and salt.
    mapping(address payer => mapping(bytes32 salt => bytes32)) private openings;
    mapping(bytes32 channelId => State) private channels;

    function open(address payee, address operator, address token, uint96 deposit, bytes32 salt, address authorizedSigner)
        external
        returns (bytes32 channelId)
    {
        require(payee != address(0) && deposit > 0, Refused("no payee or no deposit"));
        Descriptor memory d =
            Descriptor(msg.sender, payee, operator, token, salt, authorizedSigner, openings[msg.sender][salt]);
        channelId = idOf(d);
        require(channels[channelId].deposit == 0, Refused("is open"));
        channels[channelId] = State(0, deposit, 0);
        pull(token, deposit);
        emit ChannelOpened(
            channelId, msg.sender, payee, operator, token, authorizedSigner, salt, d.expiringNonceHash, deposit
        );
    }

    function topUp(Descriptor calldata descriptor, uint96 additionalDeposit) external {
        (bytes32 id, State storage state) = find(descriptor);
        require(msg.sender == descriptor.payer && additionalDeposit > 0, Refused("not by its payer"));
        state.deposit += additionalDeposit;
        if (state.closeRequestedAt != 0) {
            state.closeRequestedAt = 0;
            emit CloseRequestCancelled(id, descriptor.payer, descriptor.payee);
        }
        pull(descriptor.token, additionalDeposit);
        emit TopUp(id, descriptor.payer, descriptor.payee, additionalDeposit, state.deposit);
    }

    function settle(Descriptor calldata descriptor, uint96 cumulativeAmount, bytes calldata signature) external {
        (bytes32 id, State storage state) = find(descriptor);
        requirePayee(descriptor);
        require(cumulativeAmount > state.settled && cumulativeAmount <= state.deposit, Refused("amount"));
        requireVoucher(descriptor, id, cumulativeAmount, signature);
        uint96 delta = cumulativeAmount - state.settled;
        state.settled = cumulativeAmount;
        push(descriptor.token, descriptor.payee, delta);
        emit Settled(id, descriptor.payer, descriptor.payee, cumulativeAmount, delta, cumulativeAmount);
    }

    function close(
        Descriptor calldata descriptor,
        uint96 cumulativeAmount,
        uint96 captureAmount,
        bytes calldata signature
    ) external {
        (bytes32 id, State storage state) = find(descriptor);
        requirePayee(descriptor);
        require(captureAmount >= state.settled && captureAmount <= state.deposit, Refused("capture"));
        require(captureAmount <= cumulativeAmount, Refused("captures more than the voucher"));
        if (captureAmount > state.settled) requireVoucher(descriptor, id, cumulativeAmount, signature);
        uint96 delta = captureAmount - state.settled;
        uint96 refund = state.deposit - captureAmount;
        delete channels[id];
        push(descriptor.token, descriptor.payee, delta);
        push(descriptor.token, descriptor.payer, refund);
        emit ChannelClosed(id, descriptor.payer, descriptor.payee, captureAmount, refund);
    }

    function requestClose(Descriptor calldata descriptor) external {
        (bytes32 id, State storage state) = find(descriptor);
        require(msg.sender == descriptor.payer, Refused("not by its payer"));
        if (state.closeRequestedAt == 0) state.closeRequestedAt = uint32(block.timestamp);
        emit CloseRequested(
            id, descriptor.payer, descriptor.payee, uint256(state.closeRequestedAt) + CLOSE_GRACE_PERIOD
        );
    }

    function withdraw(Descriptor calldata descriptor) external {
        (bytes32 id, State storage state) = find(descriptor);
        require(msg.sender == descriptor.payer, Refused("not by its payer"));
        uint256 asked = state.closeRequestedAt;
        require(asked != 0 && block.timestamp >= asked + CLOSE_GRACE_PERIOD, Refused("within its grace period"));
        uint96 settled = state.settled;
        uint96 refund = state.deposit - settled;
        delete channels[id];
        push(descriptor.token, descriptor.payer, refund);
        emit ChannelClosed(id, descriptor.payer, descriptor.payee, settled, refund);
    }

    function getChannel(Descriptor calldata descriptor) external view returns (Channel memory) {
        return Channel(descriptor, channels[idOf(descriptor)]);
    }

    function getChannelState(bytes32 channelId) external view returns (State memory) {
        return channels[channelId];
    }

    function getChannelStatesBatch(bytes32[] calldata channelIds) external view returns (State[] memory states) {
        states = new State[](channelIds.length);
        for (uint256 i = 0; i < channelIds.length; i++) states[i] = channels[channelIds[i]];
    }

    function computeChannelId(
        address payer,
        address payee,
        address operator,
        address token,
        bytes32 salt,
        address authorizedSigner,
        bytes32 expiringNonceHash
    ) external view returns (bytes32) {
        return idOf(Descriptor(payer, payee, operator, token, salt, authorizedSigner, expiringNonceHash));
    }

    function getVoucherDigest(bytes32 channelId, uint96 cumulativeAmount) public view returns (bytes32) {
        bytes32 voucher = keccak256(abi.encode(VOUCHER_TYPEHASH, channelId, cumulativeAmount));
        return keccak256(abi.encodePacked("\x19\x01", domainSeparator(), voucher));
    }

    function domainSeparator() public view returns (bytes32) {
        bytes32 typeHash =
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        bytes32 name = keccak256("TIP20 Channel Reserve");
        return keccak256(abi.encode(typeHash, name, keccak256("1"), block.chainid, address(this)));
    }

    function idOf(Descriptor memory d) private view returns (bytes32) {
        return keccak256(
            abi.encode(
                d.payer,
                d.payee,
                d.operator,
                d.token,
                d.salt,
                d.authorizedSigner,
                d.expiringNonceHash,
                address(this),
                block.chainid
            )
        );
    }

    function find(Descriptor calldata descriptor) private view returns (bytes32 id, State storage state) {
        id = idOf(descriptor);
        state = channels[id];
        require(state.deposit > 0, Refused("no such channel"));
    }

    function requirePayee(Descriptor calldata d) private view {
        bool isOperator = d.operator != address(0) && msg.sender == d.operator;
        require(msg.sender == d.payee || isOperator, Refused("neither payee nor operator"));
    }

    function requireVoucher(Descriptor calldata d, bytes32 id, uint96 amount, bytes calldata signature) private view {
        require(signature.length == 65, Refused("signature"));
        uint8 v = uint8(signature[64]);
        bytes32 s = bytes32(signature[32:64]);
        require(uint256(s) <= S_MAX, Refused("signature"));
        address signer =
            ecrecover(getVoucherDigest(id, amount), v < 27 ? v + 27 : v, bytes32(signature[0:32]), s);
        address expected = d.authorizedSigner == address(0) ? d.payer : d.authorizedSigner;
        require(signer != address(0) && signer == expected, Refused("signature"));
    }

    function pull(address token, uint96 amount) private {
        require(Token(token).transferFrom(msg.sender, address(this), amount), Refused("transfer"));
    }

    function push(address token, address to, uint96 amount) private {
        if (amount > 0) require(Token(token).transfer(to, amount), Refused("transfer"));
    }
}
