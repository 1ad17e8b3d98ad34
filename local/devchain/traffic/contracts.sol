// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

// What the dev chain's traffic deploys beside Tempo's own contracts. contracts.json holds ABI and bytecode of this file
// and its SHA-256, which test/local/devchain/contracts.test.ts compares. After a change compile anew with solc 0.8.37 (npm
// package `solc`, not a dependency), standard JSON input, settings:
//   {"evmVersion": "cancun", "optimizer": {"enabled": true, "runs": 1},
//    "metadata": {"bytecodeHash": "none", "appendCBOR": false}}

interface Asset {
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// An ERC-20 with decimals and supply of one's choice.
contract PlainToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    string public name;
    string public symbol;
    uint8 public immutable decimals;
    uint256 public immutable totalSupply;
    mapping(address holder => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    constructor(string memory tokenName, string memory tokenSymbol, uint8 tokenDecimals, uint256 supply) {
        (name, symbol, decimals, totalSupply) = (tokenName, tokenSymbol, tokenDecimals, supply);
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return pay(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        return pay(from, to, value);
    }

    function pay(address from, address to, uint256 value) private returns (bool) {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }
}

/// A collection of single things: its Transfer has an ERC-20's topic 0 and the id as a fourth topic.
contract Collectible {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    string public constant name = "Millrace Collectible";
    string public constant symbol = "MILL";
    uint256 public minted;
    mapping(uint256 id => address) public ownerOf;

    function mint(address to) external {
        uint256 id = ++minted;
        ownerOf[id] = to;
        emit Transfer(address(0), to, id);
    }

    function transferFrom(address from, address to, uint256 id) external {
        require(ownerOf[id] == from && from == msg.sender, "not the owner");
        ownerOf[id] = to;
        emit Transfer(from, to, id);
    }
}

/// One asset in, shares out, at a price that only grows; its events are those of an earn vault.
contract EarnVault {
    event Deposited(address indexed caller, address indexed receiver, uint256 assets, uint256 earnShares);
    event Redeemed(address indexed caller, address indexed receiver, uint256 earnShares, uint256 assets);
    event WithdrewExact(address indexed caller, address indexed receiver, uint256 assets, uint256 earnSharesBurned);
    event VenueSharesDeposited(
        address indexed caller,
        address indexed receiver,
        uint256 requestedVenueShares,
        uint256 receivedEngineShares,
        uint256 earnShares
    );
    event RedeemRequested(
        bytes32 indexed requestId, address indexed requester, address indexed receiver, uint256 earnShares
    );
    event RedeemFinalized(
        bytes32 indexed requestId, address indexed receiver, uint256 earnShares, address asset, uint256 assets
    );
    event RedeemCancelled(bytes32 indexed requestId, address indexed receiver, uint256 earnShares);

    Asset public immutable asset;
    uint256 public totalShares;
    uint256 public totalAssets;
    uint256 public requests;
    mapping(address holder => uint256) public sharesOf;

    constructor(Asset vaultAsset) {
        asset = vaultAsset;
    }

    function deposit(uint256 assets, address receiver) external {
        uint256 shares = credit(assets, receiver);
        emit Deposited(msg.sender, receiver, assets, shares);
    }

    /// Shares of another venue, worth one asset each; one in a hundred is lost on the way.
    function depositVenueShares(uint256 venueShares, address receiver) external {
        uint256 received = venueShares - venueShares / 100;
        uint256 shares = credit(received, receiver);
        emit VenueSharesDeposited(msg.sender, receiver, venueShares, received, shares);
    }

    function redeem(uint256 shares, address receiver) public returns (uint256 assets) {
        assets = (shares * totalAssets) / totalShares;
        debit(shares, assets, receiver);
        emit Redeemed(msg.sender, receiver, shares, assets);
    }

    function withdrawExact(uint256 assets, address receiver) external {
        uint256 shares = (assets * totalShares + totalAssets - 1) / totalAssets;
        debit(shares, assets, receiver);
        emit WithdrewExact(msg.sender, receiver, assets, shares);
    }

    /// A redemption in two steps, here both at once; `cancel` stops after the first.
    function redeemInSteps(uint256 shares, address receiver, bool cancel) external {
        bytes32 id = keccak256(abi.encode(address(this), ++requests));
        emit RedeemRequested(id, msg.sender, receiver, shares);
        if (cancel) emit RedeemCancelled(id, receiver, shares);
        else emit RedeemFinalized(id, receiver, shares, address(asset), redeem(shares, receiver));
    }

    function credit(uint256 assets, address receiver) private returns (uint256 shares) {
        shares = totalShares == 0 ? assets : (assets * totalShares) / totalAssets;
        asset.transferFrom(msg.sender, address(this), assets);
        totalAssets += assets;
        totalShares += shares;
        sharesOf[receiver] += shares;
    }

    function debit(uint256 shares, uint256 assets, address receiver) private {
        sharesOf[msg.sender] -= shares;
        totalShares -= shares;
        totalAssets -= assets;
        asset.transfer(receiver, assets);
    }
}

/// Creates contracts inside a call: no receipt names them.
contract Workshop {
    event Built(address indexed made, bytes32 salt);

    function build(bytes32 salt) external {
        emit Built(address(new Collectible{salt: salt}()), salt);
    }
}

/// Fails in every way a call can, and logs before it does.
contract Faulty {
    error Refused(uint256 code, string reason);

    event Attempt(uint256 way);

    function fail(uint256 way) public {
        emit Attempt(way);
        if (way == 0) revert("out of patience");
        if (way == 1) revert Refused(7, unicode"reason with ☃, \" and \u0000");
        if (way == 2) revert();
        if (way == 3) assert(way == 0);
        if (way == 4) way /= way - 4;
        for (uint256 i = 1; i > 0; i += 2) {} // to the last drop of gas
    }

    /// Succeeds: the log of the failed inner call is not in the receipt, the outer one is.
    function failInside(uint256 way) external {
        try this.fail(way) {} catch {}
        emit Attempt(100 + way);
    }
}

/// Logs no decoder should trust: known topics with other shapes, no topics, odd lengths.
contract OddLogs {
    event Mixed(address indexed who, string text, bytes blob, int256 negative, uint256[] list);
    event Quiet(uint256 value) anonymous;

    uint256 private constant TRANSFER = 0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef;
    uint256 private constant MEMO = 0x57bc7354aa85aed339e000bccffabbc529466af35f0772c8f8ee1145927de7f0;

    function emitOdd(uint256 kind) external {
        if (kind == 0) emit Mixed(msg.sender, unicode"snow ☃ \u0000 ' \" \\", new bytes(65), -1, new uint256[](3));
        if (kind == 1) emit Quiet(kind);
        if (kind == 2) for (uint256 i = 0; i < 60; i++) emit Quiet(i);
        assembly {
            let who := caller()
            mstore(0, 5)
            switch kind
            case 3 { log0(0, 0) }
            case 4 { log0(0, 33) }
            case 5 { log3(0, 0, TRANSFER, who, who) } // no amount
            case 6 { log3(0, 20, TRANSFER, who, who) } // amount cut short
            case 7 { log3(0, 64, TRANSFER, who, who) } // bytes after the amount
            case 8 { log3(0, 32, TRANSFER, not(0), who) } // an address of 32 bytes
            case 9 { log1(0, 96, TRANSFER) } // nothing indexed
            case 10 { log2(0, 32, TRANSFER, who) } // a topic missing
            case 11 { log3(0, 64, MEMO, who, who) } // the memo not indexed
            case 12 { log4(0, 1, 1, 2, 3, 4) } // four topics of no known event
            case 13 { log1(0, 8192, who) } // 8 KiB of data
        }
    }
}
