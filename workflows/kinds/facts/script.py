"""Spellings that mean the same: traditional and simplified characters, full and half width.

Folding keeps the length of a text, so a place in the folded text is the same place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from workflows.kinds.kept import kept_by_text
from workflows.kinds.kind import Finding, Material, SourceText

_PAIRS = (
    "萬万億亿兩两點点號号週周個个時时間间鐘钟鍾钟後后會会議议記记錄录決决論论題题項项動动責责負负務务員员參参與与討讨結结錢钱塊块價价幣币歐欧鎊镑費费預预計计總总數数據据標标準准產产業业銷销"
    "賣卖買买貨货運运輸输車车輛辆鐵铁飛飞機机電电腦脑話话視视頻频網网絡络線线開开關关閉闭啟启發发現现實实際际當当應应該该這这裡里裏里對对錯错誤误問问嗎吗讓让說说談谈講讲請请謝谢訂订評评調调"
    "設设劃划畫画圖图書书報报紙纸筆笔寫写讀读學学習习課课師师級级長长張张劉刘陳陈楊杨黃黄趙赵吳吴孫孙馬马羅罗鄭郑許许韓韩馮冯鄧邓蔣蒋葉叶蘇苏呂吕盧卢薑姜譚谭陸陆範范賈贾韋韦鄒邹閆闫龍龙賀贺"
    "顧顾龔龚嚴严湯汤於于蕭萧簡简鄔邬陽阳諸诸聶聂齊齐衛卫溫温倫伦傑杰偉伟儀仪優优傳传債债傷伤備备側侧兒儿內内冊册凍冻凱凯別别刪删則则剛刚創创劑剂勁劲勞劳勢势勳勋勵励勝胜匯汇區区協协單单卻却"
    "廠厂廳厅廣广廢废庫库幾几幹干並并幫帮帶带帳帐賬账層层屬属島岛歲岁嶺岭巖岩彙汇徑径從从復复複复徵征憂忧慮虑態态慣惯慶庆憲宪憶忆懷怀懸悬戀恋戲戏戰战戶户拋抛掃扫掛挂採采揚扬換换損损搶抢撥拨"
    "擁拥擇择擊击擔担擬拟擴扩攝摄攜携敗败敵敌斷断無无舊旧晉晋晝昼暫暂曉晓曆历歷历曬晒東东條条極极構构樣样樓楼樂乐樞枢權权檔档檢检櫃柜橋桥樹树歡欢歸归殘残殺杀殼壳毀毁氣气漢汉沒没況况淚泪淨净"
    "減减測测渾浑湊凑溝沟滅灭滿满漲涨漸渐潔洁潛潜潤润澤泽濃浓濟济濤涛濫滥灣湾災灾為为烏乌煉炼煙烟熱热燈灯燒烧營营爐炉爭争爾尔牆墙獎奖獨独獲获獻献獸兽瑪玛環环瓊琼畢毕異异療疗癥症盜盗盤盘監监"
    "盡尽眾众矚瞩碼码磚砖礎础確确禮礼禍祸禪禅離离種种稱称穀谷積积穩稳窮穷競竞節节築筑簽签籌筹籃篮類类糧粮糾纠紀纪約约紅红紛纷納纳純纯紐纽細细終终組组經经綁绑綜综綠绿維维綱纲緊紧緒绪緣缘編编"
    "緩缓練练緯纬縣县縱纵縮缩績绩織织繞绕繪绘給给絕绝統统絲丝繼继續续纖纤罰罚罵骂罷罢義义聖圣聞闻聯联聲声職职聽听肅肃脫脱腳脚膠胶臉脸臨临臺台舉举興兴艙舱艦舰艱艰藝艺藥药蘭兰處处虛虚虧亏蟲虫"
    "衆众術术衝冲裝装補补製制襲袭見见規规覺觉覽览親亲觀观觸触訊讯訓训託托訪访訴诉診诊證证詞词試试詢询詳详誇夸認认誌志語语誠诚誰谁諒谅諾诺謀谋謂谓識识譯译護护譽誉變变豐丰豬猪貝贝財财貢贡貧贫"
    "購购貴贵貸贷貼贴貿贸資资賓宾賞赏賠赔質质賴赖賺赚贈赠贊赞贏赢趕赶趨趋跡迹踐践躍跃軌轨軍军軟软較较載载輔辅輕轻輪轮輯辑轄辖轉转辦办辭辞辯辩農农邊边遠远適适遷迁選选遺遗還还過过達达違违遞递"
    "遲迟郵邮鄉乡醫医醜丑釋释針针釣钓鈔钞鈴铃鉛铅銀银銅铜銘铭鋼钢錦锦鎖锁鎮镇鏡镜鏈链鑒鉴鑽钻門门閃闪閱阅闆板闊阔陣阵陰阴隊队階阶隨随險险隱隐雖虽雙双雜杂雞鸡難难雲云霧雾靈灵靜静響响頁页頂顶"
    "順顺須须頓顿領领頭头顆颗額额顏颜願愿顛颠顯显風风飯饭飲饮飽饱餅饼養养餘余館馆駐驻駕驾駛驶騎骑騰腾驅驱驗验驚惊驟骤鬆松鬥斗鬧闹魚鱼鮮鲜鳥鸟鳳凤鴻鸿鷹鹰鹽盐麗丽麥麦麵面麼么黨党齒齿齡龄龜龟"
    "國国園园圓圆團团圍围執执堅坚場场塗涂墊垫壓压壘垒壞坏壟垄壯壮壽寿夠够夢梦夾夹奪夺奮奋婦妇媽妈嬰婴宮宫寧宁寬宽審审寶宝將将專专尋寻導导屆届岡冈劍剑劇剧勸劝華华莊庄蓋盖蔥葱薦荐藍蓝蘋苹蝦虾"
    "蠟蜡衹只祇只隻只誼谊諮咨諧谐謹谨貫贯賢贤遊游連连進进遼辽邏逻醬酱鋪铺錶表鍵键鑑鉴閒闲陝陕隸隶韌韧頒颁頗颇飄飘馳驰駁驳騙骗騷骚鬱郁鯨鲸鶴鹤強强彈弹彌弥徹彻恆恒惡恶悶闷愛爱慘惨慚惭憑凭懇恳"
    "懶懒擠挤擺摆攔拦攤摊攪搅敘叙斂敛暢畅暈晕棄弃棗枣棟栋槍枪樁桩榮荣檯台櫥橱欄栏欽钦殲歼毆殴氫氢汙污沖冲涼凉淪沦淵渊淺浅湧涌溼湿濕湿滯滞滲渗滾滚漁渔潰溃澀涩澆浇濱滨瀏浏灑洒煩烦煥焕燦灿燭烛"
    "爛烂牽牵犧牺狀状狹狭猶犹瑣琐瑩莹璽玺甦苏畝亩瘋疯瘡疮癢痒皺皱盞盏睏困瞭了矯矫砲炮硯砚碩硕礙碍礦矿祕秘稅税稈秆竊窃竅窍筍笋箏筝簾帘籤签粵粤糰团紋纹紡纺紮扎紹绍絞绞絨绒綏绥綢绸綻绽緝缉緞缎"
    "緬缅緻致縛缚縫缝縷缕繡绣繩绳繳缴罈坛羨羡翹翘聰聪聳耸脅胁腫肿腸肠膚肤膽胆臟脏髒脏舖铺莖茎蒼苍蓮莲蕩荡薩萨蘆芦蠻蛮覓觅訣诀詐诈詛诅詩诗詭诡誕诞誘诱諜谍諷讽諺谚謊谎謎谜謙谦謠谣譜谱販贩貪贪"
    "貶贬賄贿賊贼賜赐賤贱賦赋賭赌贖赎蹤踪軀躯輝辉輩辈輿舆遜逊鄰邻鑄铸釘钉鈣钙鈕钮鉤钩銜衔鋒锋鋁铝錫锡鍋锅鍊炼鎢钨鏟铲鑰钥閘闸闖闯隴陇雋隽韻韵頌颂頸颈頰颊飢饥餃饺饒饶駱骆騁骋驕骄髮发鬚须魯鲁"
    "鴨鸭鵝鹅黴霉齋斋龐庞註注佈布佔占併并係系繫系倉仓傘伞傾倾僅仅僑侨僱雇儲储儘尽償偿兇凶凈净勛勋匱匮卹恤厭厌厲厉唄呗啞哑喚唤喪丧嘆叹嘗尝嚇吓囑嘱囪囱埡垭堯尧塵尘墜坠墳坟壇坛奧奥妝妆姍姗娛娱"
    "嫻娴嬌娇孿孪寢寝屍尸屜屉峽峡嵐岚巔巅帥帅幟帜廂厢廬庐弒弑彎弯徠徕恥耻悅悦惱恼慫怂慾欲憐怜憤愤懲惩戧戗捨舍掄抡掙挣揀拣揮挥搖摇摟搂摯挚撈捞撐撑撫抚撲扑擾扰攏拢斃毙昇升暉晖曠旷朧胧桿杆楓枫"
    "樸朴檸柠歎叹洶汹涇泾渦涡滄沧滬沪潑泼澗涧濁浊瀋沈瀾澜灘滩爺爷牘牍狽狈獄狱獅狮瑋玮甌瓯瘓痪癒愈盃杯硃朱碭砀磯矶祿禄禦御穌稣窩窝箋笺籠笼紂纣紗纱綸纶緹缇繃绷纏缠罎坛耬耧聾聋脣唇臍脐茲兹蔔卜"
    "蕪芜薔蔷藹蔼虜虏蝸蜗蠶蚕衊蔑襯衬訝讶詠咏誅诛誡诫諫谏謬谬譏讥讚赞貍狸賒赊贛赣踴踊軒轩輻辐轎轿遙遥郟郏鄺邝釀酿鉅巨鋸锯錘锤鎔熔鏢镖闡阐隕陨雛雏靚靓韜韬頤颐颱台飼饲餓饿駿骏驛驿鬢鬓鮑鲍鵬鹏"
)
"""Each traditional character with its simplified one."""

_SIMPLIFIED = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
# Letters, digits and signs that stand inside numbers; full-width punctuation is Chinese as it is.
_HALF = {chr(code): chr(code - 0xFEE0) for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()}
_FOLDED = str.maketrans({**_SIMPLIFIED, **_HALF, "．": ".", "％": "%", "＄": "$", "\u3000": " "})
_TRADITIONAL = {
    simple: full
    for full, simple in _SIMPLIFIED.items()
    if _PAIRS[1::2].count(simple) == 1 and simple not in "后里面台表斗谷几丑干只"
}

_IN_VALUE = re.compile(r"[A-Za-z0-9.]")
"""What a value is made of: half of it is never replaced."""

Verifier = Callable[[Material, str], Sequence[Finding]]


def fold(text: str) -> str:
    """The text in simplified characters and half-width digits and letters; of the same length."""
    return text if text.isascii() else _folded_text(text)


@kept_by_text
def _folded_text(text: str) -> str:
    """Each verifier asks for the same body."""
    return text.translate(_FOLDED)


def compared_alike(verifier: Verifier) -> Verifier:
    """The verifier on folded texts; its findings quote the body as it is."""

    def verify(material: Material, body: str) -> list[Finding]:
        plain = fold(body)
        findings = list(verifier(_folded(material), plain))
        return findings if plain == body else [_as_written(body, plain, one) for one in findings]

    return verify


def _folded(material: Material) -> Material:
    return replace(
        material,
        title=fold(material.title),
        attributes=_folded_values(material.attributes),
        sources=_folded_sources(material.sources),
    )


@kept_by_text
def _folded_sources(sources: tuple[SourceText, ...]) -> tuple[SourceText, ...]:
    """The same object each time: what is read in sources is kept under it."""
    folded = tuple(
        replace(source, name=fold(source.name), text=fold(source.text)) for source in sources
    )
    return sources if folded == sources else folded


def _folded_values(attributes: Mapping[str, object]) -> dict[str, object]:
    return {name: _folded_value(value) for name, value in attributes.items()}


def _folded_value(value: object) -> object:
    if isinstance(value, str):
        return fold(value)
    return [_folded_value(entry) for entry in value] if isinstance(value, list) else value


def _as_written(body: str, plain: str, finding: Finding) -> Finding:
    """The finding with the body's own spelling, in what it quotes and in what it suggests."""
    at = plain.find(finding.quote)
    quote = body[at : at + len(finding.quote)] if at >= 0 else finding.quote
    suggestion = finding.suggestion
    if suggestion is not None:
        suggestion = _suggested(quote, finding.quote, suggestion, full=_is_traditional(body))
    return replace(finding, quote=quote, suggestion=suggestion)


def _suggested(quote: str, plain: str, suggestion: str, *, full: bool) -> str:
    """What stays of the quote as it is written, and what is new in the script of the body."""
    shortest = min(len(plain), len(suggestion))
    lead = 0
    while lead < shortest and plain[lead] == suggestion[lead]:
        lead += 1
    tail = 0
    while tail < shortest - lead and plain[-1 - tail] == suggestion[-1 - tail]:
        tail += 1
    while lead and _IN_VALUE.match(plain[lead - 1]):
        lead -= 1
    while tail and _IN_VALUE.match(plain[-tail]):
        tail -= 1
    new = suggestion[lead : len(suggestion) - tail]
    if full:
        new = "".join(_TRADITIONAL.get(character, character) for character in new)
    return quote[:lead] + new + quote[len(quote) - tail :]


@kept_by_text
def _is_traditional(body: str) -> bool:
    characters = re.findall(r"[\u4e00-\u9fff]", body)
    full = sum(character in _SIMPLIFIED for character in characters)
    return full * 10 > len(characters)
